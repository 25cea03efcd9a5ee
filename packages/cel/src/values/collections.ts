import { CelError } from './cel-error.ts'
import { celEquals } from './equality.ts'
import { CelDouble, CelUint, type CelValue, intOf } from './values.ts'

/** A CEL list. Subclasses read their source in place. A list must not change during an evaluation. */
export abstract class CelList {
  readonly isList: true = true
  abstract readonly size: number

  /** Returns the element at an index. The caller guarantees that the index is in range. */
  abstract at(index: number): CelValue

  /** Whether `optional.ofNonZeroValue()` treats this value as absent. */
  get isZero(): boolean {
    return this.size === 0
  }

  /** `this == other` for another list. Lists with list type `set` or `map` ignore the order. */
  equalsList(other: CelList): boolean {
    if (this.size !== other.size) return false
    for (let i = 0; i < this.size; i++) {
      if (!celEquals(this.at(i), other.at(i))) return false
    }
    return true
  }

  /** `this == other` for a value that is not a list. */
  equalsOther(_other: CelValue): boolean {
    return false
  }

  /** Reports whether an element equals the value. */
  contains(value: CelValue): boolean {
    for (let i = 0; i < this.size; i++) {
      if (celEquals(this.at(i), value)) return true
    }
    return false
  }

  /** `this + other`. Lists with list type `set` or `map` merge instead of appending. */
  concat(other: CelList): CelList {
    if (other.size === 0) return this
    if (this.size === 0) return other
    const elements: CelValue[] = []
    for (const element of this) elements.push(element)
    for (const element of other) elements.push(element)
    return new ArrayList(elements)
  }

  *[Symbol.iterator](): Iterator<CelValue> {
    for (let i = 0; i < this.size; i++) yield this.at(i)
  }

  toArray(): CelValue[] {
    const out: CelValue[] = []
    for (let i = 0; i < this.size; i++) out.push(this.at(i))
    return out
  }
}

/** A list over an array of CEL values. */
export class ArrayList extends CelList {
  readonly #elements: readonly CelValue[]

  constructor(elements: readonly CelValue[]) {
    super()
    this.#elements = elements
  }

  get size(): number {
    return this.#elements.length
  }

  at(index: number): CelValue {
    return this.#elements[index] as CelValue
  }
}

/** A CEL map. Keys are strings, booleans, ints and uints. Numeric keys are equal across int, uint and double. */
export abstract class CelMap {
  readonly isList: false = false
  abstract readonly size: number

  /**
   * Returns the value of a key, or `undefined` if there is none. Throws `no such overload` for a key type that the map
   * cannot contain.
   */
  abstract get(key: CelValue): CelValue | undefined

  /** Returns the keys in iteration order. */
  abstract keys(): Iterable<CelValue>

  /** Whether `optional.ofNonZeroValue()` treats this value as absent. */
  get isZero(): boolean {
    return this.size === 0
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelMap)) return false
    if (this.size !== other.size) return false
    for (const key of this.keys()) {
      const mine = this.get(key)
      const theirs = other.get(key)
      if (mine === undefined || theirs === undefined || !celEquals(mine, theirs)) return false
    }
    return true
  }
}

/** The internal form of a map key: equal numeric keys of all types have the same form. */
export type MapKey = string | boolean | number | bigint

/** Returns the internal form of a key, or `undefined` for a value that cannot be a key. */
export function mapKeyOf(key: CelValue): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return key
  }
  if (key instanceof CelUint) return intOf(key.value)
  if (key instanceof CelDouble && Number.isInteger(key.value)) {
    return Number.isSafeInteger(key.value) ? key.value : BigInt(key.value)
  }
  return undefined
}

/** A map of CEL keys and values, created by map literals and `transformMap`. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<MapKey, readonly [CelValue, CelValue]>

  constructor(entries: ReadonlyMap<MapKey, readonly [CelValue, CelValue]>) {
    super()
    this.#entries = entries
  }

  /** Creates a map from pairs. The last value of a repeated key wins. Throws `unsupported key type`. */
  static of(pairs: Iterable<readonly [CelValue, CelValue]>): ValueMap {
    const entries = new Map<MapKey, readonly [CelValue, CelValue]>()
    for (const pair of pairs) {
      const key = mapKeyOf(pair[0])
      if (key === undefined) throw new CelError('unsupported key type')
      entries.set(key, pair)
    }
    return new ValueMap(entries)
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const stored = mapKeyOf(key)
    if (stored === undefined) return undefined
    return this.#entries.get(stored)?.[1]
  }

  *keys(): Iterable<CelValue> {
    for (const [key] of this.#entries.values()) yield key
  }

  entries(): ReadonlyMap<MapKey, readonly [CelValue, CelValue]> {
    return this.#entries
  }
}
