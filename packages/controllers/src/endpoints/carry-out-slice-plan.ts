import { isNotFound } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { EndpointSlice } from '@kubewright/k8s'
import type { SlicePlan } from './plan-endpoint-slices.ts'

/** Carries out a slice plan. With `create: false`, for an owner that is being deleted, it creates no new slices. */
export async function carryOutSlicePlan(
  client: Client,
  plan: Omit<SlicePlan, 'skipped'>,
  options: {
    readonly create: boolean
    /** Computes the annotations to write from the planned ones. */
    readonly annotations: (planned: Readonly<Record<string, string>> | undefined) => Record<string, string>
  },
): Promise<void> {
  // The garbage collector removes the slices of a deleted owner: new slices would delay it.
  for (const draft of options.create ? plan.create : []) {
    const annotations = options.annotations(draft.metadata.annotations)
    await client.create({ ...draft, metadata: { ...draft.metadata, annotations } })
  }
  for (const slice of plan.update) {
    const annotations = options.annotations(slice.metadata.annotations)
    await client.update({ ...slice, metadata: { ...slice.metadata, annotations } })
  }
  for (const { metadata } of plan.delete) {
    try {
      await client.delete(EndpointSlice, { namespace: metadata.namespace ?? '', name: metadata.name })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
