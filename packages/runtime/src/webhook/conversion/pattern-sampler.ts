import type { Random } from '@kubewright/base'
import { append } from '@kubewright/base'

/** The maximum number of repetitions for unbounded quantifiers. */
const maxRepeats = 6
const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
const classes: Readonly<Record<string, readonly string[]>> = {
  d: [...'0123456789'],
  w: [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'],
  s: [' '],
}

type Sample = () => string

/**
 * Generates texts that match a regular expression with literals, classes, groups, alternatives and repetitions. Other
 * syntax, such as look-arounds, is treated as literals, so the caller must check whether a text matches.
 */
export class PatternSampler {
  readonly #random: Random
  readonly #pattern: string
  #at = 0

  constructor(pattern: string, random: Random) {
    this.#pattern = pattern
    this.#random = random
  }

  /** Generates the next text. */
  sample(): string {
    this.#at = 0
    return this.#alternatives()()
  }

  #alternatives(): Sample {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return () => this.#random.pick(options)()
  }

  #sequence(): Sample {
    const parts: Sample[] = []
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at]!)) parts.push(this.#repeated())
    return () => parts.map((part) => part()).join('')
  }

  #repeated(): Sample {
    let part = this.#single()
    for (let counts = this.#counts(); counts !== undefined; counts = this.#counts()) {
      const [least, most] = counts
      const inner = part
      part = () => Array.from({ length: least + this.#random.int(most - least + 1) }, inner).join('')
    }
    return part
  }

  /** The quantifier at the current position, if any. */
  #counts(): readonly [number, number] | undefined {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#pattern.slice(this.#at))
    if (!found) return undefined
    this.#at += found[0].length
    const [, sign, low = '0', comma, high] = found
    if (sign !== undefined) return sign === '?' ? [0, 1] : [sign === '+' ? 1 : 0, maxRepeats]
    const least = Number(low)
    return [least, comma === '' ? least : high === '' ? least + maxRepeats : Math.max(least, Number(high))]
  }

  #single(): Sample {
    const char = this.#pattern[this.#at++]!
    switch (char) {
      case '(': {
        const prefix = /^\?(?::|P?<\w+>)/.exec(this.#pattern.slice(this.#at))
        if (prefix) this.#at += prefix[0].length
        const inner = this.#alternatives()
        this.#take(')')
        return inner
      }
      case '[': {
        const chars = this.#set()
        return () => (chars.length === 0 ? '' : this.#random.pick(chars))
      }
      case '.':
        return () => this.#random.pick(classes['w']!)
      case '^':
      case '$':
        return () => ''
      case '\\': {
        const chars = this.#escaped()
        return () => this.#random.pick(chars)
      }
      default:
        return () => char
    }
  }

  #escaped(): readonly string[] {
    const char = this.#pattern[this.#at++] ?? ''
    const known = classes[char]
    if (known) return known
    const negated = classes[char.toLowerCase()]
    if (negated) return printable.filter((candidate) => !negated.includes(candidate))
    // Boundaries match no characters.
    return 'bBAzZ'.includes(char) && char !== '' ? [''] : [char]
  }

  #set(): readonly string[] {
    const negated = this.#take('^')
    const chars: string[] = []
    for (
      let first = true;
      this.#at < this.#pattern.length && (first || this.#pattern[this.#at] !== ']');
      first = false
    ) {
      const char = this.#pattern[this.#at++]!
      const low = char === '\\' ? this.#escaped() : [char]
      const high = this.#pattern[this.#at + 1]
      if (low.length > 1 || this.#pattern[this.#at] !== '-' || high === undefined || high === ']') {
        append(chars, low)
        continue
      }
      this.#at++
      const last = this.#pattern[this.#at++] === '\\' ? this.#escaped()[0]! : high
      for (let code = low[0]!.charCodeAt(0); code <= last.charCodeAt(0) && chars.length < 512; code++) {
        chars.push(String.fromCharCode(code))
      }
    }
    this.#take(']')
    return negated ? printable.filter((candidate) => !chars.includes(candidate)) : chars
  }

  #take(char: string): boolean {
    if (this.#pattern[this.#at] !== char) return false
    this.#at++
    return true
  }
}
