import { findCondition, isConflict, isNotFound, keyOf, parseKey, toTime } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { Lease, Node, Pod, type PodCondition } from '@kubewright/k8s'
import {
  type Cluster,
  type ControllerParts,
  changed,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  type KeySink,
  type RunningSource,
  type Source,
} from '@kubewright/runtime'
import { heartbeatAnnotation } from '../node/node-agent.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { joinedSource } from '../workload/joined-source.ts'
import { inParallel } from '../workload/slow-start.ts'
import { lostAt, lostConditions, type NodeHealth, observeNode } from './node-health.ts'
import { ZoneCensus, zoneOf } from './plan-disruption.ts'
import { planTaints } from './plan-taints.ts'

const nodeKey = (name: string): string => `node:${name}`
const podKey = (key: string): string => `pod:${key}`

// The controller value is shared by all managers of the process, so its state belongs to the cluster.
const censuses = new WeakMap<Cluster, ZoneCensus>()

function censusOf(cluster: Cluster): ZoneCensus {
  const census = censuses.get(cluster) ?? new ZoneCensus()
  censuses.set(cluster, census)
  return census
}

/**
 * Enqueues each changed node, after counting it. Whether pods of a node are evicted depends on the other nodes, so all nodes
 * that are not ready are enqueued when the pace of evictions changes.
 */
const nodeSource: Source = Object.freeze({
  name: 'Node',
  start: (sink: KeySink, { cluster }: ControllerParts): RunningSource => {
    const census = censusOf(cluster)
    const lease = cluster.cache.use(Node)
    const change = (node: Node, event: 'update' | 'delete', count: () => void): void => {
      const { name } = node.metadata
      const zone = zoneOf(node)
      const before = census.evictionPace(zone)
      count()
      if (census.evictionPace(zone) !== before) for (const other of census.notReady()) sink.add(nodeKey(other))
      sink.add(nodeKey(name), { cause: { event, kind: 'v1 Node', object: name } })
    }
    const see = (node: Node): void => change(node, 'update', () => census.see(node))
    const registration = lease.addHandler({
      onAdd: see,
      onUpdate: (_, node) => see(node),
      onDelete: (node) => change(node, 'delete', () => census.forget(node.metadata.name)),
    })
    return {
      synced: registration.synced,
      problem: () => (lease.health.state === 'failing' ? lease.health.message : undefined),
      registrations: [registration],
      [Symbol.asyncDispose]: () => lease.release(),
    }
  },
})

/**
 * Detects nodes that do not report, sets their conditions to Unknown and their pods to not ready, and keeps the taints of
 * nodes in sync with their conditions.
 */
export const nodeLifecycleController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'node-lifecycle-controller',
  reporter: 'node-controller',
  kind: Node,
  sources: [
    nodeSource,
    // Pods that are bound to a node after it was lost.
    joinedSource(Pod, [Node], (cached) => ({
      predicates: [changed('spec.nodeName')],
      map: (pod) => {
        const { nodeName } = pod.spec
        const node = nodeName ? cached(Node)?.get(nodeName) : undefined
        return nodeName && (node === undefined || isLost(node)) ? [podKey(keyOf(pod))] : []
      },
    })),
  ],
  start: ({ clock, cluster }) => {
    const monitor = new NodeMonitor(clock, cluster.api, censusOf(cluster))
    return (key, context) => {
      const rest = key.slice(key.indexOf(':') + 1)
      return key.startsWith('pod:') ? monitor.syncPod(rest, context) : monitor.syncNode(rest, context)
    }
  },
})

class NodeMonitor {
  readonly #clock: Clock
  readonly #census: ZoneCensus
  readonly #leases: NodeLeases
  readonly #health = new Map<string, NodeHealth>()
  readonly #known = new Map<string, Node>()
  /** The time of the last eviction of each zone. */
  readonly #evicted = new Map<string, number>()

  constructor(clock: Clock, api: ApiClient, census: ZoneCensus) {
    this.#clock = clock
    this.#census = census
    this.#leases = new NodeLeases(clock, api)
  }

  async syncNode(name: string, context: KeyContext): Promise<KeyOutcome | undefined> {
    const node = await context.client.find(Node, name)
    this.#announce(name, node, context)
    if (node === undefined) return undefined
    try {
      const health = await this.#checkHealth(node, context)
      const taints = await this.#syncTaints(health.node, context)
      const delays = [health.checkIn, taints].filter((delay) => delay !== undefined)
      return delays.length === 0 ? undefined : { requeueAfter: Math.max(1, Math.min(...delays)) }
    } catch (error) {
      // Another write came first; its event requeues the node.
      if (!isConflict(error) && !isNotFound(error)) throw error
      return undefined
    }
  }

  async syncPod(key: string, context: KeyContext): Promise<undefined> {
    const pod = await context.client.find(Pod, parseKey(key))
    const node = pod?.spec.nodeName ? await context.client.find(Node, pod.spec.nodeName) : undefined
    if (pod !== undefined && node !== undefined && isLost(node)) await markNotReady(pod, context)
  }

  #announce(name: string, node: Node | undefined, { events }: KeyContext): void {
    const before = this.#known.get(name)
    if (node?.metadata.uid === before?.metadata.uid) return
    if (node !== undefined) {
      this.#known.set(name, node)
      const message = `Node ${name} event: Registered Node ${name} in Controller`
      events.record(referenceTo(node), { type: 'Normal', reason: 'RegisteredNode', message })
    } else if (before !== undefined) {
      this.#known.delete(name)
      this.#health.delete(name)
      const message = `Node ${name} event: Removing Node ${name} from Controller`
      events.record(referenceTo(before), { type: 'Normal', reason: 'RemovingNode', message })
    }
  }

  /** Marks the node as lost when its grace period has ended. `checkIn` is the time until the next check. */
  async #checkHealth(
    node: Node,
    context: KeyContext,
  ): Promise<{ readonly node: Node; readonly checkIn?: number | undefined }> {
    const { annotations, name } = node.metadata
    if (annotations?.[heartbeatAnnotation] === 'none') return { node }
    let health = observeNode(this.#health.get(name), node, undefined, this.#clock.now())
    this.#health.set(name, health)
    if (isLost(node)) {
      await this.#markPods(node, context)
      // Only a report of the node ends this state, and its event requeues the node.
      return { node }
    }
    // Read the Lease only when the conditions alone would not do, because Leases are not watched.
    if (lostAt(node, health) <= this.#clock.now()) {
      health = observeNode(health, node, await this.#leases.renewTimeOf(name), this.#clock.now())
      this.#health.set(name, health)
    }
    const checkIn = lostAt(node, health) - this.#clock.now()
    if (checkIn > 0) return { node, checkIn }
    const conditions = lostConditions(node, this.#clock.now())
    if (conditions === undefined) return { node }
    const wasReady = readyStatus(node) === 'True'
    const lost: Node = await context.client
      .subresource(Node, 'status')
      .update({ ...node, status: { ...node.status, conditions } })
    if (wasReady) {
      const message = `Node ${name} status is now: NodeNotReady`
      context.events.record(referenceTo(node), { type: 'Normal', reason: 'NodeNotReady', message })
    }
    await this.#markPods(lost, context)
    return { node: lost }
  }

  async #markPods({ metadata: { name } }: Node, context: KeyContext): Promise<void> {
    const pods = await context.client.list(Pod, { namespace: '', fields: { 'spec.nodeName': name } })
    await inParallel(pods, (pod) => markNotReady(pod, context))
  }

  /** Returns the delay until pods of the node may be evicted, when another node of its zone came first. */
  async #syncTaints(node: Node, { client }: KeyContext): Promise<number | undefined> {
    const now = this.#clock.now()
    if (planTaints(node, now) === undefined && !isEvicting(node)) return undefined
    const zone = zoneOf(node)
    const pace = this.#census.evictionPace(zone)
    const dueIn = (this.#evicted.get(zone) ?? Number.NEGATIVE_INFINITY) + (pace ?? 0) - now
    const taints = planTaints(node, now, pace === undefined ? 'no' : dueIn > 0 ? 'later' : 'yes')
    if (taints !== undefined) {
      const written = await client.update({ ...node, spec: { ...node.spec, taints } })
      if (!isEvicting(node) && isEvicting(written)) this.#evicted.set(zone, now)
    }
    return pace !== undefined && Number.isFinite(dueIn) && dueIn > 0 ? dueIn : undefined
  }
}

/** The node as Events of kube-controller-manager refer to it: without a resource version. */
const referenceTo = (node: Node): Node => ({ ...node, metadata: { ...node.metadata, resourceVersion: '' } })

const readyStatus = (node: Node): string | undefined => findCondition(node.status?.conditions, 'Ready')?.status

const isEvicting = (node: Node): boolean =>
  node.spec?.taints?.some(
    ({ effect, key }) =>
      effect === 'NoExecute' && (key === 'node.kubernetes.io/not-ready' || key === 'node.kubernetes.io/unreachable'),
  ) ?? false

const isLost = (node: Node): boolean => readyStatus(node) === 'Unknown'

/** Sets the condition Ready of a pod on a lost node to False. */
async function markNotReady(pod: Pod, { client, events, now }: KeyContext): Promise<void> {
  const ready = findCondition(pod.status?.conditions, 'Ready') as PodCondition | undefined
  if (ready?.status !== 'True') return
  const { namespace = '', name, uid } = pod.metadata
  const condition = { ...ready, status: 'False' as const, lastTransitionTime: toTime(now().getTime()) }
  try {
    const patch = { metadata: { uid }, status: { conditions: [condition] } }
    await client.subresource(Pod, 'status').patch({ namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    if (isNotFound(error)) return
    throw error
  }
  events.record(pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' })
}

// How long a list of Leases is used for other nodes. Nodes of a large cluster share a list instead of reading one each. A node that renews
// its Lease every 40 seconds or more often is in the list before its grace period ends.
const leasesMaxAge = 10_000

/** The renewal times of all node Leases, read on demand. */
class NodeLeases {
  readonly #clock: Clock
  readonly #api: ApiClient
  #read: { readonly at: number; readonly times: Promise<ReadonlyMap<string, string>> } | undefined

  constructor(clock: Clock, api: ApiClient) {
    this.#clock = clock
    this.#api = api
  }

  async renewTimeOf(name: string): Promise<string | undefined> {
    const now = this.#clock.now()
    if (this.#read === undefined || now - this.#read.at >= leasesMaxAge) {
      const times = this.#list()
      this.#read = { at: now, times }
      times.catch(() => {
        this.#read = undefined
      })
    }
    return (await this.#read.times).get(name)
  }

  async #list(): Promise<ReadonlyMap<string, string>> {
    const times = new Map<string, string>()
    // In pages, so that the parsed Leases of a large cluster are not in memory at the same time.
    for await (const { items } of this.#api.pages(Lease, { namespace: 'kube-node-lease' })) {
      for (const { metadata, spec } of items) if (spec?.renewTime) times.set(metadata.name, spec.renewTime)
    }
    return times
  }
}
