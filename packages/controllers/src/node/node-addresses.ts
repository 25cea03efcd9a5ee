import { CaughtError } from '@kubewright/base'

/** The pod CIDR of one or more nodes. */
interface Range {
  readonly prefix: string
  /** The number of the address to try next. */
  next: number
}

/** Assigns the addresses of simulated nodes and their pods. */
export class NodeAddresses {
  readonly #nodes = new Map<string, { readonly ip: string; readonly range: Range }>()
  readonly #byPod = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(names: readonly string[]) {
    // The first node has 10.64.0.0/16, the second 10.65.0.0/16, and so on; more nodes than ranges share them.
    const ranges = Array.from({ length: Math.min(names.length, 190) }, (_, i) => ({ prefix: `10.${64 + i}`, next: 2 }))
    for (const [index, name] of names.entries()) {
      // Node addresses are in 192.168.0.0/16.
      const ip = `192.168.${Math.floor((index + 10) / 250)}.${((index + 10) % 250) + 1}`
      this.#nodes.set(name, { ip, range: ranges[index % ranges.length]! })
    }
  }

  has(node: string | undefined): boolean {
    return node !== undefined && this.#nodes.has(node)
  }

  /** The pod CIDR of a node. */
  rangeOf(node: string): string {
    return `${this.#nodes.get(node)?.range.prefix ?? '10.64'}.0.0/16`
  }

  ofNode(node: string): string {
    return this.#nodes.get(node)?.ip ?? ''
  }

  /** The address of a pod: its current one, or a free one. */
  take(node: string, uid: string, current: string | undefined): string {
    const known = this.#byPod.get(uid)
    if (known !== undefined) return known
    const address = current || this.#free(node)
    this.#taken.add(address)
    this.#byPod.set(uid, address)
    return address
  }

  release(uid: string): void {
    const address = this.#byPod.get(uid)
    if (address === undefined) return
    this.#byPod.delete(uid)
    this.#taken.delete(address)
  }

  #free(node: string): string {
    const range = this.#nodes.get(node)?.range
    if (range === undefined)
      throw new CaughtError(`Cannot find an address on node "${node}": the node is not simulated`)
    for (let tries = 0; tries < 65_534; tries++) {
      const number = range.next
      // The first and the last address of a range are reserved.
      range.next = number >= 65_534 ? 2 : number + 1
      const address = `${range.prefix}.${number >> 8}.${number & 255}`
      if (!this.#taken.has(address)) return address
    }
    throw new CaughtError(`Cannot find an address on node "${node}": all addresses of its range are in use`)
  }
}
