/**
 * A set of members that share keys by rendezvous hashing: each key belongs to the member with the highest score for it.
 * All replicas with the same set compute the same owner. When a member joins or leaves, only the keys that it gains or
 * had change owners.
 */
export class Rendezvous {
  /** Sorted, without duplicates. */
  readonly members: readonly string[]
  /** Equal for equal sets. */
  readonly text: string
  readonly #seeds: readonly number[]

  constructor(members: Iterable<string>) {
    this.members = [...new Set(members)].sort()
    this.text = JSON.stringify(this.members)
    this.#seeds = this.members.map(hash)
  }

  /** The owner of a key; undefined when there are no members. */
  owner(key: string): string | undefined {
    const keyed = hash(key)
    let best = -1
    let winner: string | undefined
    for (let index = 0; index < this.#seeds.length; index++) {
      const score = mix(keyed ^ (this.#seeds[index] ?? 0))
      // Of members with equal scores, the first one wins.
      if (score > best) {
        best = score
        winner = this.members[index]
      }
    }
    return winner
  }
}

/** FNV-1a over UTF-16 code units, mixed: 32 bits. Part of the protocol between replicas, so it must not change. */
export function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return mix(value)
}

// The finalizer of MurmurHash3: every input bit reaches every output bit.
function mix(value: number): number {
  let mixed = value
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
