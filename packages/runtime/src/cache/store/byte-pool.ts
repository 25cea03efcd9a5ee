import type { ByteHome, EncodedObject } from '@kubewright/client'

// Sizes of slabs, in bytes. The first ones are small, because most kinds of a cluster have few objects.
const smallest = 2 * 1024
const usual = 16 * 1024
const largest = 256 * 1024
// The allocated but unused share that is tolerated: a quarter of the used bytes, and at least 64 KiB.
const maxWaste = 0.25
const minWaste = 64 * 1024

const placeUnit = 32

/** An object whose bytes a pool can hold. */
type Held = EncodedObject<unknown>

class Slab implements ByteHome {
  readonly pool: BytePool
  readonly bytes: Buffer
  /** The objects whose bytes are here. */
  readonly objects = new Set<Held>()
  used = 0
  live = 0

  constructor(pool: BytePool, size: number) {
    this.pool = pool
    this.bytes = Buffer.allocUnsafeSlow(size)
  }

  get room(): number {
    return this.bytes.length - this.used
  }
}

/**
 * Stores the bytes of many objects in a few large slabs outside the heap. Removed objects leave holes. When a quarter
 * is unused, the slabs with the most holes are copied into others and reused, so memory use does not depend on garbage
 * collection.
 */
export class BytePool {
  readonly #slabs = new Set<Slab>()
  #current: Slab | undefined
  #spare: Slab | undefined
  #live = 0
  #capacity = 0

  /** The pool that holds an object's bytes; undefined for none. */
  static of(object: Held): BytePool | undefined {
    return object.home instanceof Slab ? object.home.pool : undefined
  }

  /** The size of the places of the objects in the pool, in bytes. */
  get live(): number {
    return this.#live
  }

  /** The allocated bytes. */
  get capacity(): number {
    return this.#capacity + (this.#spare?.bytes.length ?? 0)
  }

  /** Moves the bytes of an object into the pool. Does nothing when they are there already. */
  hold(object: Held): void {
    const { home } = object
    if (home instanceof Slab && home.pool === this) return
    const place = placeOf(object.size)
    const slab = this.#withRoom(place)
    put(slab, object)
    this.#live += place
    if (slab.used === place) this.#compact()
  }

  /**
   * Gives an object in the pool the contents of another version of it. They usually take the place of the old ones. The
   * caller has copied the old ones if readers need them.
   */
  renew<T>(object: EncodedObject<T>, next: EncodedObject<T>): void {
    const { home, start, size } = object
    const fits = home instanceof Slab && home.pool === this && placeOf(next.size) === placeOf(size)
    if (!fits) this.#forget(object)
    object.renew(next)
    if (fits) object.moveTo(home, start)
    else this.hold(object)
  }

  /** Removes an object. It gets a copy of its bytes, so that readers that still reference it keep working. */
  release(object: Held): void {
    if (this.#forget(object)) object.detach()
  }

  /** Removes an object that has no readers left: its bytes are not copied. */
  discard(object: Held): void {
    this.#forget(object)
  }

  #forget(object: Held): boolean {
    const { home } = object
    if (!(home instanceof Slab) || home.pool !== this) return false
    const place = placeOf(object.size)
    home.live -= place
    home.objects.delete(object)
    this.#live -= place
    if (home.live === 0 && home !== this.#current) this.#free(home)
    return true
  }

  #withRoom(size: number): Slab {
    if (this.#current !== undefined && this.#current.room >= size) return this.#current
    // An object that would waste much of a slab gets its own slab.
    if (size > largest / 4) return this.#add(new Slab(this, size))
    const spare = this.#spare
    this.#spare = undefined
    const least = Math.max(smallest, Math.min(usual, this.#capacity), this.#capacity / 4, size)
    const wanted = Math.min(largest, 2 ** Math.ceil(Math.log2(least)))
    this.#current = this.#add(spare ?? new Slab(this, wanted))
    return this.#current
  }

  #add(slab: Slab): Slab {
    this.#slabs.add(slab)
    this.#capacity += slab.bytes.length
    return slab
  }

  #free(slab: Slab): void {
    this.#slabs.delete(slab)
    this.#capacity -= slab.bytes.length
    slab.objects.clear()
    slab.used = 0
    if (slab.bytes.length === largest) this.#spare ??= slab
  }

  /** Moves objects out of the slabs with the most holes until the waste is within the limit. */
  #compact(): void {
    for (;;) {
      const waste = this.#capacity - this.#live - (this.#current?.room ?? 0)
      if (waste <= Math.max(minWaste, this.#live * maxWaste)) return
      let worst: Slab | undefined
      for (const slab of this.#slabs) {
        if (slab === this.#current) continue
        if (worst === undefined || slab.live / slab.bytes.length < worst.live / worst.bytes.length) worst = slab
      }
      if (worst === undefined) return
      for (const object of worst.objects) put(this.#withRoom(placeOf(object.size)), object)
      worst.live = 0
      this.#free(worst)
    }
  }
}

function put(slab: Slab, object: Held): void {
  object.moveTo(slab, slab.used)
  slab.objects.add(object)
  const place = placeOf(object.size)
  slab.used += place
  slab.live += place
}

/** The size of the place of an object. Rounded up, so that versions of similar sizes fit into it. */
function placeOf(size: number): number {
  return Math.ceil(size / placeUnit) * placeUnit
}
