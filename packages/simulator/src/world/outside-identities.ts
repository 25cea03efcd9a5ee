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

  /** Whether two values differ only in an identity: the state outside counts them, and creates another one for an object that is created again. */
  isOther(value: unknown, other: unknown, others: OutsideIdentities): boolean {
    if (typeof value !== 'string' || typeof other !== 'string') return false
    return withoutNumbers(value) === withoutNumbers(other) && this.#isIn(value) && others.#isIn(other)
  }

  #isIn(text: string): boolean {
    return [...this.#texts].some((one) => text.includes(one))
  }
}

const withoutNumbers = (text: string): string => text.replace(/\d+/g, '0')
