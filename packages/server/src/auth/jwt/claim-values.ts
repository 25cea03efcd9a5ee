import { CelDouble, CelList, CelMap, type CelValue, unescapeIdentifier } from '@kubewright/cel'

/**
 * Converts JSON to CEL values as the authenticator of kube-apiserver does: all numbers are doubles, and a key of an object may be written with
 * the escapes of CEL identifiers (`claims.example__dot__com`).
 */
export function claimValue(json: unknown): CelValue {
  if (typeof json === 'number') return new CelDouble(json)
  if (typeof json !== 'object' || json === null) return (json ?? null) as CelValue
  return Array.isArray(json) ? new ClaimList(json) : new ClaimMap(json as Readonly<Record<string, unknown>>)
}

class ClaimList extends CelList {
  readonly #items: readonly unknown[]

  constructor(items: readonly unknown[]) {
    super()
    this.#items = items
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): CelValue {
    return claimValue(this.#items[index])
  }
}

class ClaimMap extends CelMap {
  readonly #entries: Readonly<Record<string, unknown>>

  constructor(entries: Readonly<Record<string, unknown>>) {
    super()
    this.#entries = entries
  }

  get size(): number {
    return Object.keys(this.#entries).length
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined
    const name = unescapeIdentifier(key) ?? key
    return Object.hasOwn(this.#entries, name) ? claimValue(this.#entries[name]) : undefined
  }

  keys(): Iterable<CelValue> {
    return Object.keys(this.#entries)
  }
}
