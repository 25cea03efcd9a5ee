import { keyOf, parseKey } from '@kubewright/api'
import { CaughtError, errorText } from '@kubewright/base'
import { EndpointSlice, Node, Pod, Service } from '@kubewright/k8s'
import { changed, type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { isFilled } from './backends.ts'
import { carryOutSlicePlan } from './carry-out-slice-plan.ts'
import { managedByLabel, planEndpointSlices, serviceNameLabel, sliceController } from './plan-endpoint-slices.ts'
import { podSelector, podsOfServices } from './selecting-services.ts'
import { TriggerTimes, withTriggerTime } from './trigger-times.ts'

/** Keeps the EndpointSlices of services in sync with the pods that the services select. */
export const endpointSliceController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'endpointslice-controller',
  reporter: 'endpoint-slice-controller',
  kind: Service,
  concurrency: 5,
  sources: [
    kindSource(Service),
    podsOfServices,
    kindSource(EndpointSlice, {
      map: ({ metadata: { labels, namespace } }) => {
        const name = labels?.[serviceNameLabel]
        return name !== undefined && labels?.[managedByLabel] === sliceController ? [`${namespace}/${name}`] : []
      },
    }),
    kindSource(Node, {
      predicates: [changed('metadata.labels')],
      map: async (_, { client }) => (await client.list(Service, { namespace: '' })).filter(isFilled).map(keyOf),
    }),
  ],
  start: () => {
    const triggers = new TriggerTimes()
    return (key, context) => reconcile(key, context, triggers)
  },
})

async function reconcile(key: string, context: KeyContext, triggers: TriggerTimes): Promise<void> {
  const { client, events } = context
  const service = await client.find(Service, parseKey(key))
  if (service === undefined) {
    // The garbage collector deletes the slices, because the service owns them.
    triggers.forget(key)
    return
  }
  if (!isFilled(service)) return
  const { namespace = '', name } = service.metadata
  const pods = await client.list(Pod, { namespace, selector: podSelector(service) })
  const labels = { [serviceNameLabel]: name, [managedByLabel]: sliceController }
  const slices = await client.list(EndpointSlice, { namespace, selector: { matchLabels: labels } })
  const nodes = new Map((await client.list(Node)).map((node) => [node.metadata.name, node]))
  const trigger = triggers.next(service, pods)
  const alive = slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const plan = planEndpointSlices({ service, pods, nodes, slices: alive })
  try {
    await carryOutSlicePlan(client, plan, {
      create: service.metadata.deletionTimestamp === undefined,
      annotations: (planned) => withTriggerTime(planned, trigger),
    })
    if (plan.skipped.length > 0) {
      const texts = plan.skipped.map(({ metadata, spec: { nodeName = '' } }) => {
        return `skipping Pod ${metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`
      })
      throw new CaughtError(texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`)
    }
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${errorText(error)}`
    events.record(service, { type: 'Warning', reason: 'FailedToUpdateEndpointSlices', message })
    throw error
  }
}
