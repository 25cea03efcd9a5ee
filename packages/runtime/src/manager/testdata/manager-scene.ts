import { type KubeObject, newNotFound, toNameAndNamespace } from '@kubewright/api'
import { type MemoryLogger, memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import type { ApiClient, Key } from '@kubewright/client'
import type { Lease, LeaseDraft } from '@kubewright/k8s/coordination/v1'
import type { Cluster } from '../../cluster/cluster.ts'
import { type FakeCluster, fakeCluster } from '../../controller/testdata/fake-cluster.ts'
import type { Runnable, RunnablePhase } from '../../define/runnable.ts'
import type { LeaseCall, LeaseStore } from '../../leases/lease-store.ts'
import { LeaseWorld, type Link } from '../../leases/testdata/lease-world.ts'
import { Machine } from '../../leases/testdata/machine.ts'
import type { HealthCheck, HealthChecks } from '../../serving/health/health-check.ts'
import { createManager } from '../create-manager.ts'
import type { Manager, ManagerOptions } from '../manager.ts'

/** A manager on its own machine. */
export interface Replica {
  readonly manager: Manager
  readonly machine: Machine
  readonly link: Link
  readonly cluster: FakeCluster
  /** The names of the objects created through the cluster's client. */
  readonly written: string[]
  /** By path, such as `readyz/controllers`. */
  readonly checks: Map<string, HealthCheck['check']>
  /** Starts the manager and records how it ends. */
  start(): void
  stop(): void
  /** How `start` ended: undefined while it runs, 'stopped', or the error. */
  readonly outcome: () => unknown
}

/** Managers that share Leases, on a virtual clock. */
export class ManagerScene {
  readonly clock = new VirtualClock()
  readonly world = new LeaseWorld(this.clock, seededRandom(1))
  readonly log: MemoryLogger = memoryLogger()
  /** The events of the test's runnables, in order. */
  readonly said: string[] = []
  #replicas = 0

  replica(options: ManagerOptions = {}): Replica {
    const machine = new Machine(this.clock)
    const link = { cut: false, loss: 0, delay: 0 }
    const written: string[] = []
    const cluster = clusterWith(this.world.seenFrom(machine, link), written)
    const checks = new Map<string, HealthCheck['check']>()
    const manager = createManager({
      cluster,
      clock: machine,
      random: seededRandom(++this.#replicas),
      log: this.log,
      name: 'test',
      identity: `replica-${this.#replicas}`,
      health: healthOf(checks),
      events: { record: (_, { message }) => void this.said.push(`event ${message}`) },
      ...options,
    })
    const stop = new AbortController()
    let outcome: unknown
    const start = (): void => {
      manager.start({ signal: stop.signal }).then(
        () => {
          outcome = 'stopped'
        },
        (error: unknown) => {
          outcome = error
        },
      )
    }
    return { manager, machine, link, cluster, written, checks, start, stop: () => stop.abort(), outcome: () => outcome }
  }

  /** A runnable that records its start and end, and ends when it is drained. */
  part(name: string, phase: RunnablePhase, more: Partial<Runnable> = {}): Runnable {
    const run: Runnable['run'] = async ({ drain, ready }) => {
      this.said.push(`start ${name}`)
      ready()
      await until(drain)
      this.said.push(`end ${name}`)
    }
    return { name, phase, run, ...more }
  }
}

export function until(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

function healthOf(checks: Map<string, HealthCheck['check']>): HealthChecks {
  const add =
    (sort: string) =>
    ({ name, check }: HealthCheck): Disposable => {
      checks.set(`${sort}/${name}`, check)
      return { [Symbol.dispose]: () => void checks.delete(`${sort}/${name}`) }
    }
  return { addLiveness: add('healthz'), addReadiness: add('readyz') }
}

// The client supports Leases, and records creations of other objects.
function clusterWith(leases: LeaseStore, written: string[]): FakeCluster {
  const api = {
    find: (_: unknown, key: Key, call?: LeaseCall) => leases.find(toNameAndNamespace(key).name, call),
    list: (_: unknown, { labels, ...call }: LeaseCall & { labels: Record<string, string> }) =>
      leases.list(labels, call),
    update: (lease: Lease, call?: LeaseCall) => leases.update(lease, call),
    create: async (draft: KubeObject, call?: LeaseCall) => {
      if (draft.kind === 'Lease') return leases.create(draft as unknown as LeaseDraft, call)
      written.push(draft.metadata.name)
      return draft
    },
    delete: async (_: unknown, key: Key, call?: LeaseCall) => {
      const { name } = toNameAndNamespace(key)
      const lease = await leases.find(name, call)
      if (lease === undefined) throw newNotFound({ group: 'coordination.k8s.io', resource: 'leases' }, name)
      await leases.delete(lease, call)
    },
  }
  // The manager uses these methods only.
  const client = api as unknown as ApiClient
  return { ...fakeCluster(), api: client, client } satisfies Cluster
}
