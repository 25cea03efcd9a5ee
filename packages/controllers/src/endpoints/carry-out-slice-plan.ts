import { isNotFound } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { EndpointSlice } from '@kubewright/k8s'
import type { SlicePlan } from './plan-endpoint-slices.ts'

/** Makes slices as planned, each as `finish` leaves it; without `create`, for an owner that goes, no new ones. */
export async function carryOutSlicePlan(
  client: Client,
  plan: SlicePlan,
  options: {
    readonly create: boolean
    /** The annotations of a slice, from those that it is planned with. */
    readonly annotations: (planned: Readonly<Record<string, string>> | undefined) => Record<string, string>
  },
): Promise<void> {
  // The garbage collector removes the slices of an owner that goes: new ones would be in its way.
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
