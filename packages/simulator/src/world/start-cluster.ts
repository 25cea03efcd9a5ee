import type { KubeObject } from '@kubewright/api'
import { type Clock, type Duration, drainMicrotasks, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import type { Impersonation, Transport } from '@kubewright/client'
import type { ProcessHost } from '@kubewright/controllers'
import { type ControlPlane, type NodesOptions, startControlPlane } from '@kubewright/controlplane'
import type { Operator } from '@kubewright/runtime'
import { ServiceAccountKeys } from '@kubewright/server'
import { prepareSamples } from '../plan/prepare-samples.ts'
import type { Sample } from '../plan/samples.ts'
import { chooseCluster } from './choose-cluster.ts'
import { installOperator } from './install-operator.ts'
import { objectsSince } from './stored-objects.ts'

// Controllers act on the changes of an instant together, so that a roll-out needs fewer writes.
const debounce: Duration = '1ms'
const controllerUser = 'system:kube-controller-manager'
const deletionDelay = 100

/** The cluster with which every run starts: the operator is installed, its inputs exist, and it does not run yet. */
export interface StartCluster {
  readonly hasPods: boolean
  /** Whether the operator or its workloads use volumes. */
  readonly hasVolumes: boolean
  /** The identity and the permissions of the operator. */
  readonly rights: Impersonation
  readonly now: number
  readonly revision: number
  /** The uids of the objects that exist before the operator starts. */
  readonly inputs: ReadonlySet<string>
  /** Starts a copy of the cluster. `plan` is the behaviour of the containers, `processes` runs them. */
  start(
    clock: Clock,
    random: Random,
    plan: NonNullable<NodesOptions['plan']>,
    processes: ProcessHost | undefined,
  ): Promise<ControlPlane>
}

/** Prepares the cluster, and the samples, whose forms its server accepts. */
export async function prepareCluster(
  operator: Operator,
  given: readonly KubeObject[],
  kubernetes: string | undefined,
): Promise<{ readonly cluster: StartCluster; readonly samples: readonly Sample[] }> {
  const clock = new VirtualClock()
  const random = seededRandom('setup')
  const { nodes, ...chosen } = chooseCluster(operator, given)
  const access = { serviceAccounts: { keys: [ServiceAccountKeys.generate()] } }
  const plane = await startControlPlane({ clock, random, nodes, access, kubernetes })
  const rights = await drive(clock, installOperator(plane, operator, clock))
  const samples = await drive(clock, prepareSamples(plane, operator, given))
  await clock.advance('10s')
  const snapshot = plane.snapshot()
  const { store } = plane.server.parts.registry
  const cluster: StartCluster = {
    hasPods: nodes > 0,
    hasVolumes: chosen.controllers.includes('persistentvolume-binder-controller'),
    rights,
    now: clock.now(),
    revision: await store.revision(),
    inputs: new Set((await objectsSince(store, 0)).map(({ metadata }) => metadata.uid)),
    start(clock, random, plan, processes) {
      const running = { nodes, plan, ...(processes === undefined ? {} : { processes }) }
      const intercept = (transport: Transport, { name }: { readonly name: string }): Transport =>
        name === controllerUser ? slowDeletions(transport, clock) : transport
      // A run is too short for many revisions, and each check of their number costs a turn of the event loop.
      const history = { revisions: Number.POSITIVE_INFINITY }
      const changed = { ...chosen, nodes: nodes === 0 ? 0 : running, debounce, access, history, intercept, kubernetes }
      return snapshot.start({ clock, random, ...changed })
    },
  }
  await drive(clock, Promise.resolve(plane[Symbol.asyncDispose]()))
  return { cluster, samples }
}

/** Delays the deletions of the built-in controllers: children exist for a while when their owner is gone, as in a real cluster. */
const slowDeletions = (transport: Transport, clock: Clock): Transport => ({
  host: transport.host,
  async send(request, limited) {
    if (request.method === 'DELETE') await clock.sleep(deletionDelay)
    return transport.send(request, limited)
  },
  [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
})

/** Waits for a promise. Virtual time passes meanwhile. */
export async function drive<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await drainMicrotasks()
    if (!isDone) await clock.advanceToNext()
  }
  return done
}
