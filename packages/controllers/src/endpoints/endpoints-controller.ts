import { isNotFound, parseKey } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { Endpoints, Pod, Service } from '@kubewright/k8s'
import { type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { isFilled } from './backends.ts'
import { planEndpoints } from './plan-endpoints.ts'
import { podSelector, podsOfServices } from './selecting-services.ts'
import { TriggerTimes } from './trigger-times.ts'

/** Marks Endpoints that legacy clients use for leader election. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

/** Keeps the Endpoints of services in sync with the pods that the services select. */
export const endpointsController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'endpoints-controller',
  reporter: 'endpoint-controller',
  kind: Service,
  concurrency: 5,
  sources: [
    kindSource(Service),
    podsOfServices,
    // Legacy leader elections use Endpoints without a service.
    kindSource(Endpoints, {
      map: ({ metadata: { name, namespace, annotations } }) =>
        annotations?.[leaderAnnotation] === undefined ? [`${namespace}/${name}`] : [],
    }),
  ],
  start: () => {
    const triggers = new TriggerTimes()
    return (key, context) => reconcile(key, context, triggers)
  },
})

async function reconcile(key: string, { client, events }: KeyContext, triggers: TriggerTimes): Promise<void> {
  const service = await client.find(Service, parseKey(key))
  if (service === undefined) {
    triggers.forget(key)
    await removeLeftover(key, client)
    return
  }
  if (!isFilled(service)) return
  const { namespace = '', name } = service.metadata
  const pods = await client.list(Pod, { namespace, selector: podSelector(service) })
  const current = await client.find(Endpoints, { namespace, name })
  const draft = planEndpoints(service, pods, current, triggers.next(service, pods))
  if (draft === undefined) return
  try {
    await (current === undefined ? client.create(draft) : client.update(draft))
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    const [reason, verb] =
      current === undefined
        ? ['FailedToCreateEndpoint', `create endpoint for service`]
        : ['FailedToUpdateEndpoint', 'update endpoint']
    const message = `Failed to ${verb} ${namespace}/${name}: ${errorText(error)}`
    events.record(current ?? service, { type: 'Warning', reason, message })
    throw error
  }
}

async function removeLeftover(key: string, client: KeyContext['client']): Promise<void> {
  try {
    if ((await client.find(Endpoints, parseKey(key))) !== undefined) await client.delete(Endpoints, parseKey(key))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
