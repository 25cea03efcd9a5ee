import type { Difference } from './cluster-state.ts'

const maxDepth = 3
const maxLength = 200

/** The texts with numbers that the state outside the cluster has returned: most of them identify something, such as `vm-1`. */
export class OutsideIdentities {
  readonly #texts = new Set<string>()

  /** Records the result of a call. */
  see(value: unknown, depth = 0): void {
    if (typeof value === 'string') {
      if (value.length <= maxLength && /\d/.test(value)) this.#texts.add(value)
    } else if (typeof value === 'object' && value !== null && depth < maxDepth) {
      for (const part of Object.values(value)) this.see(part, depth + 1)
    }
  }

  /** Whether a text contains an identity. */
  isIn(text: string): boolean {
    for (const one of this.#texts) if (text.includes(one)) return true
    return false
  }
}

/**
 * Whether a difference is that of two identities, which the state outside the cluster counts. It creates another one when an object is
 * created again.
 */
export function isOtherIdentity(
  { expected, actual }: Difference,
  identities: OutsideIdentities,
  others: OutsideIdentities,
): boolean {
  if (typeof expected !== 'string' || typeof actual !== 'string') return false
  return withoutNumbers(expected) === withoutNumbers(actual) && identities.isIn(expected) && others.isIn(actual)
}

const withoutNumbers = (text: string): string => text.replace(/\d+/g, '0')
