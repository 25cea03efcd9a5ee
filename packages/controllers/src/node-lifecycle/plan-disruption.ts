import { findCondition } from '@kubewright/api'
import type { Node } from '@kubewright/k8s'

const excluded = 'node.kubernetes.io/exclude-disruption'
// The defaults of kube-controller-manager's flags --unhealthy-zone-threshold and --large-cluster-size-threshold.
const unhealthyShare = 0.55
const largeZone = 50

/** The time between the evictions of two nodes of a zone, in milliseconds. */
const evictionInterval = { normal: 10_000, reduced: 100_000 } as const

interface Count {
  nodes: number
  ready: number
}

/** The zone of a node, by its topology labels. */
export function zoneOf({ metadata: { labels } }: Node): string {
  const label = (name: string): string => labels?.[`topology.kubernetes.io/${name}`] ?? ''
  return `${label('region')}:\u0000:${label('zone')}`
}

/**
 * The number of ready nodes of each zone. Maintained incrementally, because visiting all nodes for each event would make
 * the start of a large cluster quadratic.
 */
export class ZoneCensus {
  readonly #nodes = new Map<string, { readonly zone: string; readonly ready: boolean; readonly counts: boolean }>()
  readonly #zones = new Map<string, Count>()
  readonly #total: Count = { nodes: 0, ready: 0 }

  see(node: Node): void {
    const { name, labels } = node.metadata
    this.forget(name)
    const ready = findCondition(node.status?.conditions, 'Ready')?.status === 'True'
    const entry = { zone: zoneOf(node), ready, counts: labels?.[excluded] === undefined }
    this.#nodes.set(name, entry)
    if (entry.counts) this.#add(entry, 1)
  }

  forget(name: string): void {
    const entry = this.#nodes.get(name)
    if (entry === undefined) return
    this.#nodes.delete(name)
    if (entry.counts) this.#add(entry, -1)
  }

  /** The nodes that are not ready. */
  notReady(): string[] {
    return [...this.#nodes].flatMap(([name, { ready }]) => (ready ? [] : [name]))
  }

  /**
   * How long to wait between two nodes of a zone whose pods are evicted, in milliseconds; infinite while most nodes of a
   * small zone are not ready, because their pods would find no other node. Undefined when no node of the cluster is
   * ready: then the network of the control plane is the likely cause, and evictions stop. As handleDisruption in
   * pkg/controller/nodelifecycle.
   */
  evictionPace(zone: string): number | undefined {
    if (this.#total.nodes > 0 && this.#total.ready === 0) return undefined
    const { nodes, ready } = this.#zones.get(zone) ?? { nodes: 0, ready: 0 }
    const lost = nodes - ready
    // A zone without any ready node is evicted at the normal rate, because other zones are ready.
    if (ready === 0 || lost <= 2 || lost / nodes < unhealthyShare) return evictionInterval.normal
    return nodes > largeZone ? evictionInterval.reduced : Number.POSITIVE_INFINITY
  }

  #add({ ready, zone }: { readonly ready: boolean; readonly zone: string }, step: 1 | -1): void {
    const count = this.#zones.get(zone) ?? { nodes: 0, ready: 0 }
    this.#zones.set(zone, count)
    for (const one of [count, this.#total]) {
      one.nodes += step
      if (ready) one.ready += step
    }
    if (count.nodes === 0) this.#zones.delete(zone)
  }
}
