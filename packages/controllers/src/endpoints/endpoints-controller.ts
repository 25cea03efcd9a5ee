import { isConflict, isNotFound, parseKey } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { Endpoints, Pod, Service } from '@kubewright/k8s'
import {
  type Cluster,
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeySink,
  kindSource,
  type RunningSource,
  type Source,
} from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { knownTime } from '../workload/known-time.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { isFilled } from './backends.ts'
import { isManaged, planEndpoints } from './plan-endpoints.ts'
import { podSelector, podsOfServices } from './selecting-services.ts'
import { TriggerTimes } from './trigger-times.ts'

/** Marks Endpoints that legacy clients use for leader election. */
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

// The controller value is shared by all managers of the process, so its state belongs to the cluster.
const initial = new WeakMap<Cluster, Set<string>>()

function initialUids(cluster: Cluster): Set<string> {
  const uids = initial.get(cluster) ?? new Set<string>()
  initial.set(cluster, uids)
  return uids
}

/** Records the Endpoints that exist when the controller starts. Adds no keys. */
const initialEndpoints: Source = Object.freeze({
  name: 'Endpoints (initial)',
  start: (_: KeySink, { cluster }: ControllerParts): RunningSource => {
    const uids = initialUids(cluster)
    const lease = cluster.cache.use(Endpoints)
    const registration = lease.addHandler({
      onAdd: ({ metadata: { uid } }, { isInInitialList }) => {
        if (isInInitialList) uids.add(uid)
      },
      onDelete: ({ metadata: { uid } }) => void uids.delete(uid),
    })
    return {
      synced: registration.synced,
      // The other source of Endpoints reports problems of the watch.
      problem: () => undefined,
      registrations: [registration],
      [Symbol.asyncDispose]: () => lease.release(),
    }
  },
})

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
    initialEndpoints,
  ],
  start: ({ clock, cluster }) => {
    const state: State = {
      triggers: new TriggerTimes(),
      services: new Set(),
      initial: initialUids(cluster),
      startedAt: clock.now(),
    }
    return (key, context) => reconcile(key, context, state)
  },
})

interface State {
  readonly triggers: TriggerTimes
  /** The keys of the services that exist, as far as this controller has seen. */
  readonly services: Set<string>
  /** The uids of the Endpoints that existed when this controller started. */
  readonly initial: ReadonlySet<string>
  readonly startedAt: number
}

async function reconcile(key: string, { client, events }: KeyContext, state: State): Promise<void> {
  const { services, triggers } = state
  const service = await client.find(Service, parseKey(key))
  if (service === undefined) {
    triggers.forget(key)
    await removeLeftover(key, client, state)
    services.delete(key)
    return
  }
  services.add(key)
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

/**
 * Deletes the Endpoints of a deleted service, and Endpoints without a service that are from the time before this controller ran or from
 * another run of it. Other Endpoints without a service belong to clients, which may create the service later.
 */
async function removeLeftover(key: string, client: KeyContext['client'], state: State): Promise<void> {
  const leftover = await client.find(Endpoints, parseKey(key))
  if (leftover === undefined) return
  const created = knownTime(leftover.metadata.creationTimestamp) ?? 0
  // Times have no fractions of a second.
  const isOld = state.initial.has(leftover.metadata.uid) || created + 1000 <= state.startedAt
  if (!state.services.has(key) && !isOld && !isManaged(leftover)) return
  try {
    await client.delete(Endpoints, parseKey(key), { preconditions: { uid: leftover.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
