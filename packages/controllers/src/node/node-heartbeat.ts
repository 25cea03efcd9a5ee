import { isAlreadyExists, isConflict, isNotFound, toMicroTime, toTime } from '@kubewright/api'
import { type Clock, type Duration, toMillis } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { Lease, Node } from '@kubewright/k8s'
import { type KeyController, timerSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { inParallel } from '../workload/slow-start.ts'

const leaseNamespace = 'kube-node-lease'
// How often a kubelet writes an unchanged status.
const statusPeriod = 300_000
// The renewals of a period are spread over this many batches.
const batches = 10
// More nodes than this many times the period in seconds renew less often, but within three quarters of the duration of
// their Leases. kube-controller-manager's grace period is longer than that duration.
const renewalsPerSecond = 150
// What a request allocates lives until its response. With more requests at once, a collection finds all of it in use and
// moves it to the old generation, whose collections visit every object of the cluster.
const renewalsAtOnce = 8

/**
 * Renews the Leases of the simulated nodes and the heartbeat times of their conditions, as kubelets do. Batches share one
 * key, because a queue item per node would cost more than the write. Each Lease is written with the resource version of
 * the previous renewal, so that a renewal is one request without a read.
 */
export function nodeHeartbeat(names: readonly string[], heartbeat: Duration): KeyController {
  const beat = toMillis(heartbeat)
  const period = Math.max(beat, Math.min(3 * beat, (names.length / renewalsPerSecond) * 1000))
  const count = Math.max(1, Math.min(batches, names.length))
  const size = Math.ceil(names.length / count)
  return defineBuiltinController({
    name: 'node-heartbeat',
    kind: Node,
    sources: [timerSource(period / count, { name: 'heartbeat', keys: ['heartbeat'], atStart: true })],
    start: ({ clock, cluster: { api } }) => {
      const beats = new Heartbeats(api, clock, beat * 4)
      let next = 0
      let first = true
      return async (_, { client }) => {
        // At start all nodes renew, because their Leases may be older than a period.
        const batch = first ? names : names.slice(next, next + size)
        next = next + size >= names.length ? 0 : next + size
        first = false
        const renew = async (name: string): Promise<void> => {
          const node = await client.find(Node, name)
          if (node === undefined) beats.forget(name)
          else await beats.beat(node)
        }
        await inParallel(batch, renew, renewalsAtOnce)
      }
    },
  })
}

class Heartbeats {
  readonly #api: ApiClient
  readonly #clock: Clock
  readonly #duration: number
  readonly #leases = new Map<string, Lease>()
  readonly #statusAt = new Map<string, number>()

  constructor(api: ApiClient, clock: Clock, duration: number) {
    this.#api = api
    this.#clock = clock
    this.#duration = duration
  }

  forget(name: string): void {
    this.#leases.delete(name)
    this.#statusAt.delete(name)
  }

  async beat(node: Node): Promise<void> {
    const { name } = node.metadata
    const now = this.#clock.now()
    const since = this.#statusAt.get(name)
    if (since === undefined) this.#statusAt.set(name, now)
    else if (now - since >= statusPeriod) await this.#writeStatus(node, now)
    try {
      const { metadata, ...rest } = await this.#renew(node, this.#leases.get(name))
      // An update without managed fields keeps them, and is cheaper.
      const { managedFields: _, ...kept } = metadata
      this.#leases.set(name, { ...rest, metadata: kept })
    } catch (error) {
      // Another writer changed, deleted or created the Lease; the next renewal reads it first.
      this.#leases.delete(name)
      if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error
    }
  }

  async #renew(node: Node, known: Lease | undefined): Promise<Lease> {
    const { name, uid } = node.metadata
    const key = { namespace: leaseNamespace, name }
    const lease = known ?? (await this.#api.find(Lease, key))
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: Math.ceil(this.#duration / 1000),
      renewTime: toMicroTime(this.#clock.now()),
    }
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
    if (lease === undefined) return this.#api.create(Lease({ metadata: { ...key, ownerReferences }, spec }))
    const metadata =
      lease.metadata.ownerReferences?.[0]?.uid === uid ? lease.metadata : { ...lease.metadata, ownerReferences }
    return this.#api.update({ ...lease, metadata, spec })
  }

  /** Writes the heartbeat times of all conditions whose status the node reports. */
  async #writeStatus(node: Node, now: number): Promise<void> {
    const time = toTime(now)
    const conditions = (node.status?.conditions ?? [])
      .filter(({ status }) => status !== 'Unknown')
      .map(({ type }) => ({ type, lastHeartbeatTime: time }))
    this.#statusAt.set(node.metadata.name, now)
    const { name } = node.metadata
    await this.#api.subresource(Node, 'status').patch(name, { status: { conditions } }, { type: 'strategic' })
  }
}
