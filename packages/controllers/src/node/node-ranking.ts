import { controllerOf } from '@kubewright/api'
import { Heap } from '@kubewright/base'
import type { Pod } from '@kubewright/k8s'
import type { ClusterLedger, NodeLoad } from './cluster-ledger.ts'
import { requestsOf } from './pod-resources.ts'
import { fullness, lackingResources, nodeMisfit } from './schedule-pod.ts'

// Pods of more shapes than this are placed in turn only in clusters with many different workloads; the ranking of the
// shape that was used first is dropped then.
const maxShapes = 16

interface Ranked {
  readonly load: NodeLoad
  /** The position of the node in the ledger, the last criterion. */
  readonly index: number
  readonly fullness: number
}

/**
 * Selects nodes for pods whose placement depends only on taints, node selectors and resources, without a visit to every
 * node: for each shape of pods, the nodes are kept sorted by how full they are. The result is exactly that of
 * `schedulePod`, which places all other pods.
 */
export class NodeRanking {
  readonly #ledger: ClusterLedger
  readonly #shapes = new Map<string, Shape>()
  #nodes: readonly NodeLoad[] = []
  #indexes = new Map<string, number>()
  #hasPreferences = false

  constructor(ledger: ClusterLedger) {
    this.#ledger = ledger
    ledger.onPodsChanged = (name) => this.#changed(name)
  }

  /** The best node for the pod; undefined when `schedulePod` must decide. */
  choose(pod: Pod): NodeLoad | undefined {
    if (this.#ledger.repelling > 0 || !isPlain(pod)) return undefined
    this.#follow()
    if (this.#hasPreferences) return undefined
    return this.#shape(pod).best(controllerOf(pod)?.uid)
  }

  /** Starts again when nodes have changed. */
  #follow(): void {
    const { nodes } = this.#ledger
    if (nodes === this.#nodes) return
    this.#nodes = nodes
    this.#indexes = new Map(nodes.map(({ node }, index) => [node.metadata.name, index]))
    this.#hasPreferences = nodes.some(({ node }) =>
      node.spec?.taints?.some(({ effect }) => effect === 'PreferNoSchedule'),
    )
    this.#shapes.clear()
  }

  #shape(pod: Pod): Shape {
    const requests = requestsOf(pod)
    const { nodeSelector, affinity, tolerations } = pod.spec
    const amounts = [...requests].map(([name, amount]) => [name, String(amount)])
    const key = JSON.stringify([amounts, nodeSelector, affinity?.nodeAffinity, tolerations])
    let shape = this.#shapes.get(key)
    if (shape === undefined) {
      const [first] = this.#shapes.keys()
      if (this.#shapes.size >= maxShapes && first !== undefined) this.#shapes.delete(first)
      shape = new Shape(pod, requests, this.#nodes)
      this.#shapes.set(key, shape)
    }
    return shape
  }

  #changed(name: string): void {
    const index = this.#indexes.get(name)
    const load = index === undefined ? undefined : this.#nodes[index]
    if (index === undefined || load === undefined) return
    for (const shape of this.#shapes.values()) shape.update(load, index)
  }
}

/** The nodes that fit pods of one shape, whatever runs there, the emptiest first. */
class Shape {
  readonly #requests: ReadonlyMap<string, bigint>
  readonly #heap = new Heap<Ranked, number>({
    key: ({ index }) => index,
    compare: (a, b) => a.fullness - b.fullness || a.index - b.index,
  })
  readonly #fits: ReadonlySet<number>

  constructor(pod: Pod, requests: ReadonlyMap<string, bigint>, nodes: readonly NodeLoad[]) {
    this.#requests = requests
    const fits = new Set<number>()
    for (const [index, load] of nodes.entries()) if (nodeMisfit(pod, load.node) === undefined) fits.add(index)
    this.#fits = fits
    for (const index of fits) this.update(nodes[index]!, index)
  }

  update(load: NodeLoad, index: number): void {
    if (this.#fits.has(index)) this.#heap.set({ load, index, fullness: fullness(this.#requests, load) })
  }

  /**
   * The emptiest node with enough resources and without pods of the owner. Undefined when every node has some: then the
   * number of the owner's pods comes before the fullness.
   */
  best(owner: string | undefined): NodeLoad | undefined {
    const passed: Ranked[] = []
    let found: Ranked | undefined
    for (let next = this.#heap.pop(); next !== undefined; next = this.#heap.pop()) {
      passed.push(next)
      const { load } = next
      if (owner !== undefined && load.owners.has(owner)) continue
      if (lackingResources(this.#requests, load) !== undefined) continue
      found = next
      break
    }
    for (const one of passed) this.#heap.set(one)
    return found?.load
  }
}

/** Whether the placement depends neither on other pods, except for the resources that they use, nor on preferences. */
function isPlain({ spec, status }: Pod): boolean {
  const { affinity, containers, initContainers = [], topologySpreadConstraints = [] } = spec
  return (
    affinity?.podAffinity === undefined &&
    affinity?.podAntiAffinity === undefined &&
    affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution === undefined &&
    // Such terms may name single nodes; a shape for each would not pay.
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution === undefined &&
    topologySpreadConstraints.length === 0 &&
    !status?.nominatedNodeName &&
    ![...containers, ...initContainers].some(({ ports }) => ports?.some(({ hostPort }) => hostPort))
  )
}
