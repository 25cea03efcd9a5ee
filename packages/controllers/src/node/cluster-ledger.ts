import { controllerOf } from '@kubewright/api'
import { type DeepReadonly, deepEqual } from '@kubewright/base'
import type { Node, Pod, PodAffinityTerm } from '@kubewright/k8s'
import { isPodTerminal } from '../workload/pod-state.ts'
import { type Amounts, addAll, allocatableOf, requestsOf } from './pod-resources.ts'

/** A port of the node that a pod occupies. */
export interface HostPort {
  readonly protocol: string
  readonly port: number
  /** `0.0.0.0` means every address of the node. */
  readonly ip: string
}

/** The facts about a pod on a node that matter for placing other pods. */
export interface PlacedPod {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly priority: number
  /** When the node started the pod; absent before. */
  startTime: string | undefined
  /** Whether the pod is being deleted. */
  terminating: boolean
  /** Whether a scheduler deletes the pod in favour of another one. */
  preempted: boolean
  readonly labels: Readonly<Record<string, string>> | undefined
  /** The uid of the pod's controller. */
  readonly owner: string | undefined
  readonly ports: readonly HostPort[]
  readonly requests: ReadonlyMap<string, bigint>
  /** The required anti-affinity terms of the pod. */
  readonly repels: readonly DeepReadonly<PodAffinityTerm>[]
}

/** A node and the pods on it. */
export interface NodeLoad {
  readonly node: Node
  readonly allocatable: Amounts
  readonly used: Amounts
  readonly pods: ReadonlyMap<string, PlacedPod>
  /** The pods with required anti-affinity. */
  readonly repelling: ReadonlySet<PlacedPod>
  /** The number of pods by the uid of their controller. */
  readonly owners: ReadonlyMap<string, number>
}

interface Account {
  readonly used: Amounts
  readonly pods: Map<string, PlacedPod>
  readonly repelling: Set<PlacedPod>
  readonly owners: Map<string, number>
}

/**
 * Tracks the resources that pods use on each node incrementally, so that placing a pod does not visit all other pods.
 */
export class ClusterLedger {
  readonly #accounts = new Map<string, Account>()
  readonly #nodeOf = new Map<string, string>()
  readonly #assumed = new Set<string>()
  // The loads of the nodes that were seen, by name.
  readonly #seen = new Map<string, NodeLoad>()
  #sorted: readonly NodeLoad[] | undefined
  #repelling = 0
  /** Called with the name of a node after its pods have changed. @default nothing */
  onPodsChanged: (node: string) => void = () => undefined

  /** Forgets all pods. */
  clearPods(): void {
    for (const uid of [...this.#nodeOf.keys()]) this.forget(uid)
    this.#assumed.clear()
  }

  /** Forgets all nodes. */
  clearNodes(): void {
    this.#seen.clear()
    this.#sorted = undefined
  }

  /** The number of pods with required anti-affinity. */
  get repelling(): number {
    return this.#repelling
  }

  /**
   * The loads of the nodes that were seen, sorted by name. They are live, and the same array is returned until a node
   * changes in a way that matters for placement.
   */
  get nodes(): readonly NodeLoad[] {
    const byName = ({ node: a }: NodeLoad, { node: b }: NodeLoad): number =>
      a.metadata.name < b.metadata.name ? -1 : 1
    return (this.#sorted ??= [...this.#seen.values()].sort(byName))
  }

  /**
   * Updates the ledger with a node from a watch event. Returns whether the node has changed in a way that matters for
   * placement: heartbeats do not.
   */
  seeNode(node: Node): boolean {
    const { name } = node.metadata
    const known = this.#seen.get(name)?.node
    if (known !== undefined && deepEqual(placementFacts(known), placementFacts(node))) return false
    this.#seen.set(name, { node, allocatable: allocatableOf(node), ...this.#account(name) })
    this.#sorted = undefined
    return true
  }

  /** Forgets a node. Its pods stay until they are forgotten. */
  forgetNode(name: string): void {
    if (this.#seen.delete(name)) this.#sorted = undefined
  }

  /** Updates the ledger with a pod from a watch event. */
  see(pod: Pod): void {
    const { uid } = pod.metadata
    if (pod.spec.nodeName && !isPodTerminal(pod)) {
      this.#assumed.delete(uid)
      this.#put(pod, pod.spec.nodeName)
    } else if (!this.#assumed.has(uid) || isPodTerminal(pod)) {
      this.forget(uid)
    }
  }

  /** Counts a pod on a node before its binding is written and visible in the cache. */
  assume(pod: Pod, node: string): void {
    this.#assumed.add(pod.metadata.uid)
    this.#put(pod, node)
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid)
  }

  forget(uid: string): void {
    this.#assumed.delete(uid)
    const name = this.#nodeOf.get(uid)
    const account = name === undefined ? undefined : this.#accounts.get(name)
    const placed = account?.pods.get(uid)
    if (name === undefined || account === undefined || placed === undefined) return
    this.#nodeOf.delete(uid)
    account.pods.delete(uid)
    if (account.repelling.delete(placed)) this.#repelling--
    for (const [resource, amount] of placed.requests) {
      account.used.set(resource, (account.used.get(resource) ?? 0n) - amount)
    }
    if (placed.owner !== undefined) {
      const left = (account.owners.get(placed.owner) ?? 0) - 1
      if (left > 0) account.owners.set(placed.owner, left)
      else account.owners.delete(placed.owner)
    }
    this.onPodsChanged(name)
  }

  /** The nodes with their loads. The loads are live: they change with later calls. */
  loads(nodes: readonly Node[]): NodeLoad[] {
    return nodes.map((node) => ({ node, allocatable: allocatableOf(node), ...this.#account(node.metadata.name) }))
  }

  #account(node: string): Account {
    let account = this.#accounts.get(node)
    if (account === undefined) {
      account = { used: new Map(), pods: new Map(), repelling: new Set(), owners: new Map() }
      this.#accounts.set(node, account)
    }
    return account
  }

  #put(pod: Pod, node: string): void {
    const { uid } = pod.metadata
    const before = this.#nodeOf.get(uid)
    const known = before === node ? this.#account(node).pods.get(uid) : undefined
    if (known !== undefined) {
      // Its requests and its place among other pods count only once.
      Object.assign(known, lifeOf(pod))
      return
    }
    if (before !== undefined) this.forget(uid)
    const account = this.#account(node)
    const placed = placedPod(pod)
    this.#nodeOf.set(uid, node)
    account.pods.set(uid, placed)
    if (placed.repels.length > 0) {
      account.repelling.add(placed)
      this.#repelling++
    }
    addAll(account.used, placed.requests)
    if (placed.owner !== undefined) account.owners.set(placed.owner, (account.owners.get(placed.owner) ?? 0) + 1)
    this.onPodsChanged(node)
  }
}

// Shared by the pods of a cluster, most of which have neither host ports nor anti-affinity.
const nothing: readonly never[] = []

/** The fields of a node that decide which pods it can run. */
function placementFacts({ metadata: { uid, labels }, spec, status }: Node): unknown {
  return [uid, labels, spec, status?.allocatable ?? status?.capacity]
}

/** Extracts the facts about a pod that matter for placement. */
export function placedPod(pod: Pod): PlacedPod {
  const { labels, name, namespace = '', uid } = pod.metadata
  return {
    uid,
    name,
    namespace,
    priority: pod.spec.priority ?? 0,
    ...lifeOf(pod),
    labels,
    owner: controllerOf(pod)?.uid,
    ports: hostPorts(pod),
    requests: requestsOf(pod),
    repels: pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? nothing,
  }
}

function lifeOf({ metadata, status }: Pod): Pick<PlacedPod, 'startTime' | 'terminating' | 'preempted'> {
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  return {
    startTime: status?.startTime,
    terminating: metadata.deletionTimestamp !== undefined,
    preempted: disruption?.status === 'True' && disruption.reason === 'PreemptionByScheduler',
  }
}

/** A load with other pods, for trying a placement. The given load stays as it is. */
export function loadWith(
  load: NodeLoad,
  change: { readonly without?: readonly PlacedPod[] | undefined; readonly and?: readonly PlacedPod[] | undefined },
): NodeLoad {
  const used = new Map(load.used)
  const pods = new Map(load.pods)
  const repelling = new Set(load.repelling)
  const owners = new Map(load.owners)
  const count = (placed: PlacedPod, step: 1 | -1): void => {
    for (const [name, amount] of placed.requests) used.set(name, (used.get(name) ?? 0n) + BigInt(step) * amount)
    if (placed.owner !== undefined) owners.set(placed.owner, (owners.get(placed.owner) ?? 0) + step)
  }
  for (const placed of change.without ?? []) {
    if (!pods.delete(placed.uid)) continue
    repelling.delete(placed)
    count(placed, -1)
  }
  for (const placed of change.and ?? []) {
    if (pods.has(placed.uid)) continue
    pods.set(placed.uid, placed)
    if (placed.repels.length > 0) repelling.add(placed)
    count(placed, 1)
  }
  return { ...load, used, pods, repelling, owners }
}

/** The host ports of containers and sidecars, as in component-helpers GetHostPorts. */
function hostPorts({ spec }: Pod): readonly HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const found = [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostIP, hostPort, protocol }) =>
      hostPort ? [{ port: hostPort, protocol: protocol || 'TCP', ip: hostIP || everyAddress }] : [],
    ),
  )
  return found.length === 0 ? nothing : found
}

/** Whether a pod needs a port of the node that another pod of the node occupies. */
export function hasPortConflict({ ports }: PlacedPod, others: Iterable<PlacedPod>): boolean {
  if (ports.length === 0) return false
  for (const other of others) {
    if (other.ports.some((port) => ports.some((own) => isSamePort(own, port)))) return true
  }
  return false
}

/** A port on every address conflicts with the same port on each address. */
function isSamePort(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false
  return a.ip === b.ip || a.ip === everyAddress || b.ip === everyAddress
}

const everyAddress = '0.0.0.0'
