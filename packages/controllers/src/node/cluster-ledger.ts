import { controllerOf } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Node, Pod, PodAffinityTerm } from '@kubewright/k8s'
import { isPodTerminal } from '../workload/pod-state.ts'
import { type Amounts, addAll, allocatableOf, requestsOf } from './pod-resources.ts'

/** What has to be known of a pod on a node to place others beside it. */
export interface PlacedPod {
  readonly uid: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>> | undefined
  /** The uid of its controller. */
  readonly owner: string | undefined
  readonly ports: readonly string[]
  readonly requests: Amounts
  /** The pods that it cannot have near. */
  readonly repels: readonly DeepReadonly<PodAffinityTerm>[]
}

/** A node and what is on it. */
export interface NodeLoad {
  readonly node: Node
  readonly allocatable: Amounts
  readonly used: Amounts
  readonly pods: ReadonlyMap<string, PlacedPod>
  /** Those of them that cannot have others near. */
  readonly repelling: ReadonlySet<PlacedPod>
  /** How many pods of each controller there are. */
  readonly owners: ReadonlyMap<string, number>
}

interface Account {
  readonly used: Amounts
  readonly pods: Map<string, PlacedPod>
  readonly repelling: Set<PlacedPod>
  readonly owners: Map<string, number>
}

/** Keeps count of what pods use of nodes, so that placing one costs nothing for each that is there. */
export class ClusterLedger {
  readonly #accounts = new Map<string, Account>()
  readonly #nodeOf = new Map<string, string>()
  readonly #assumed = new Set<string>()

  /** Takes note of a pod as it was seen. */
  see(pod: Pod): void {
    const { uid } = pod.metadata
    if (pod.spec.nodeName && !isPodTerminal(pod)) {
      this.#assumed.delete(uid)
      this.#put(pod, pod.spec.nodeName)
    } else if (!this.#assumed.has(uid) || isPodTerminal(pod)) {
      this.forget(uid)
    }
  }

  /** Counts a pod on a node that it is about to be bound to. */
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
    account.repelling.delete(placed)
    for (const [resource, amount] of placed.requests) {
      account.used.set(resource, (account.used.get(resource) ?? 0n) - amount)
    }
    if (placed.owner !== undefined) account.owners.set(placed.owner, (account.owners.get(placed.owner) ?? 0) - 1)
  }

  /** The nodes with what is on them. They go on counting. */
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
    // Neither requests nor labels that matter here change on the way: a pod is counted once.
    if (before === node) return
    if (before !== undefined) this.forget(uid)
    const account = this.#account(node)
    const placed = placedPod(pod)
    this.#nodeOf.set(uid, node)
    account.pods.set(uid, placed)
    if (placed.repels.length > 0) account.repelling.add(placed)
    addAll(account.used, placed.requests)
    if (placed.owner !== undefined) account.owners.set(placed.owner, (account.owners.get(placed.owner) ?? 0) + 1)
  }
}

/** What has to be known of a pod. */
export function placedPod(pod: Pod): PlacedPod {
  const { labels, namespace = '', uid } = pod.metadata
  return {
    uid,
    namespace,
    labels,
    owner: controllerOf(pod)?.uid,
    ports: hostPorts(pod),
    requests: requestsOf(pod),
    repels: pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  }
}

function hostPorts(pod: Pod): readonly string[] {
  const ports = pod.spec.containers.flatMap(({ ports: list = [] }) => list)
  return ports.flatMap(({ hostPort, protocol = 'TCP' }) => (hostPort ? [`${protocol} ${hostPort}`] : []))
}
