import { parseKey } from '@kubewright/api'
import { EndpointSlice, Endpoints, Service } from '@kubewright/k8s'
import { changed, type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { carryOutSlicePlan } from './carry-out-slice-plan.ts'
import { leaderAnnotation } from './endpoints-controller.ts'
import { managedByLabel, serviceNameLabel } from './plan-endpoint-slices.ts'
import { mirroringController, planMirroredSlices } from './plan-mirrored-slices.ts'

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'

/** Mirrors the user-managed Endpoints of services without a selector to EndpointSlices. */
export const endpointSliceMirroring: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'endpointslice-mirroring-controller',
  reporter: 'endpoint-slice-mirroring-controller',
  kind: Endpoints,
  concurrency: 5,
  sources: [
    kindSource(Endpoints),
    kindSource(Service, { predicates: [changed('spec.selector')] }),
    kindSource(EndpointSlice, {
      map: ({ metadata: { labels, namespace } }) => {
        const name = labels?.[serviceNameLabel]
        return name !== undefined && labels?.[managedByLabel] === mirroringController ? [`${namespace}/${name}`] : []
      },
    }),
  ],
  start: () => reconcile,
})

async function reconcile(key: string, { client, events }: KeyContext): Promise<void> {
  const { namespace = '', name } = parseKey(key)
  const matchLabels = { [serviceNameLabel]: name, [managedByLabel]: mirroringController }
  const slices = await client.list(EndpointSlice, { namespace, selector: { matchLabels } })
  const endpoints = await client.find(Endpoints, { namespace, name })
  const service = await client.find(Service, { namespace, name })
  const mirrored =
    endpoints !== undefined &&
    endpoints.metadata.labels?.[skipLabel] !== 'true' &&
    endpoints.metadata.annotations?.[leaderAnnotation] === undefined &&
    service !== undefined &&
    service.spec?.selector === undefined
  const alive = slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const none = { create: [], update: [], delete: alive, skipped: 0 }
  const plan = mirrored ? planMirroredSlices(endpoints, alive) : none
  if (mirrored && plan.skipped > 0) {
    const message = `A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. ${plan.skipped} addresses were skipped`
    events.record(endpoints, { type: 'Warning', reason: 'TooManyAddressesToMirror', message })
  }
  try {
    await carryOutSlicePlan(client, plan, {
      create: endpoints?.metadata.deletionTimestamp === undefined,
      annotations: (planned) => ({ ...planned }),
    })
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error
  }
}
