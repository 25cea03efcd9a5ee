import { CelError } from './cel-error.ts'
import { ArrayList, CelList, CelMap, type MapKey, mapKeyOf, ValueMap } from './collections.ts'
import { printKey } from './qualify.ts'
import type { CelValue } from './values.ts'

/**
 * The list accumulator of a fold: `+` appends in place. Only the accumulator variable may refer to it; {@link settled}
 * converts it to an immutable list before it escapes.
 */
export class ListAccumulator extends CelList {
  readonly #elements: CelValue[] = []

  get size(): number {
    return this.#elements.length
  }

  at(index: number): CelValue {
    return this.#elements[index] as CelValue
  }

  override concat(other: CelList): CelList {
    for (let i = 0; i < other.size; i++) this.#elements.push(other.at(i))
    return this
  }

  settled(): CelList {
    return new ArrayList(this.#elements)
  }
}

/** The map accumulator of a fold: `insert` modifies it in place. The same ownership rule applies. */
export class MapAccumulator extends CelMap {
  readonly #entries = new Map<MapKey, readonly [CelValue, CelValue]>()

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const stored = mapKeyOf(key)
    return stored === undefined ? undefined : this.#entries.get(stored)?.[1]
  }

  *keys(): Iterable<CelValue> {
    for (const [key] of this.#entries.values()) yield key
  }

  insert(key: CelValue, value: CelValue): this {
    const stored = mapKeyOf(key)
    if (stored === undefined) throw new CelError('unsupported key type')
    if (this.#entries.has(stored)) throw new CelError(`insert failed: key ${printKey(key)} already exists`)
    this.#entries.set(stored, [key, value])
    return this
  }

  settled(): CelMap {
    return new ValueMap(this.#entries)
  }
}

/** Returns the map itself if it is an accumulator, else a copy as an accumulator. */
export function mutableCopy(map: CelMap): MapAccumulator {
  if (map instanceof MapAccumulator) return map
  const copy = new MapAccumulator()
  for (const key of map.keys()) copy.insert(key, map.get(key)!)
  return copy
}

/** Converts accumulators to immutable lists and maps; returns other values unchanged. */
export function settled(value: CelValue): CelValue {
  if (value instanceof ListAccumulator || value instanceof MapAccumulator) return value.settled()
  return value
}
