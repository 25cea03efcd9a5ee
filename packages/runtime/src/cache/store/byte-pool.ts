import type { ByteHome, EncodedObject } from '@kubewright/client'

const smallest = 16 * 1024
const largest = 256 * 1024
// How much of what is allocated may be unused: a quarter of what is used, and a little for pools that are small.
const maxWaste = 0.25
const minWaste = 64 * 1024

/** What can lie in a pool. */
type Held = EncodedObject<unknown>

class Slab implements ByteHome {
  readonly pool: BytePool
  readonly bytes: Buffer
  // Whatever was ever put here since the slab was last empty; of these, those whose home is still here are alive.
  objects: Held[] = []
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
 * The bytes of many objects in few large pieces of memory outside of the heap. Objects that come and go leave holes; when these
 * amount to a quarter, the pieces with the most holes are emptied into others and used again, so that memory does not depend on when
 * garbage is collected.
 */
export class BytePool {
  readonly #slabs = new Set<Slab>()
  #current: Slab | undefined
  #spare: Slab | undefined
  #live = 0
  #capacity = 0

  /** The pool that an object's bytes are in, if any. */
  static of(object: Held): BytePool | undefined {
    return object.home instanceof Slab ? object.home.pool : undefined
  }

  /** The bytes of the objects. */
  get live(): number {
    return this.#live
  }

  /** The bytes that are allocated for them. */
  get capacity(): number {
    return this.#capacity + (this.#spare?.bytes.length ?? 0)
  }

  /** Moves the bytes of an object into the pool; does nothing when they are there already. */
  hold(object: Held): void {
    const { home } = object
    if (home instanceof Slab && home.pool === this) return
    const slab = this.#withRoom(object.size)
    put(slab, object)
    this.#live += object.size
    if (slab.used === object.size) this.#compact()
  }

  /** Lets an object go. It keeps bytes of its own, so that those who still have it can read it. */
  release(object: Held): void {
    if (this.#forget(object)) object.detach()
  }

  /** Lets an object go that nobody has any more. */
  discard(object: Held): void {
    this.#forget(object)
  }

  #forget(object: Held): boolean {
    const { home, size } = object
    if (!(home instanceof Slab) || home.pool !== this) return false
    home.live -= size
    this.#live -= size
    if (home.live === 0 && home !== this.#current) this.#free(home)
    return true
  }

  #withRoom(size: number): Slab {
    if (this.#current !== undefined && this.#current.room >= size) return this.#current
    // Objects that would waste much of a slab get one of their own size.
    if (size > largest / 4) return this.#add(new Slab(this, size))
    const spare = this.#spare
    this.#spare = undefined
    const wanted = Math.min(largest, Math.max(smallest, 2 ** Math.ceil(Math.log2(Math.max(this.#capacity / 4, size)))))
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
    slab.objects = []
    slab.used = 0
    if (slab.bytes.length === largest) this.#spare ??= slab
  }

  /** Empties the slabs with the most holes until few enough are left. */
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
      for (const object of worst.objects) {
        if (object.home === worst) put(this.#withRoom(object.size), object)
      }
      worst.live = 0
      this.#free(worst)
    }
  }
}

function put(slab: Slab, object: Held): void {
  object.moveTo(slab, slab.used)
  slab.objects.push(object)
  slab.used += object.size
  slab.live += object.size
}
