import { append } from '@kubewright/base'
// The part of RE2's syntax that the automaton supports. Everything else, and every error, is left to the full engine,
// which has the error texts. Only whether a text matches counts: groups capture nothing, and greediness makes no
// difference.

/** Code points as inclusive ranges in a flat array: `[lo, hi, lo, hi, …]`, ascending and not adjacent. */
export type CodeRanges = readonly number[]

/** A regular expression, reduced to what decides whether a text matches. */
export type RegexNode =
  | { readonly kind: 'set'; readonly ranges: CodeRanges }
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly branches: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly body: RegexNode; readonly min: number; readonly max: number }

const MAX_CODE_POINT = 0x10ffff
/** RE2's limit for counted repetition; counts of nested repetitions are multiplied. */
const MAX_REPEAT = 1000
const MAX_DEPTH = 100

const DIGIT: CodeRanges = [0x30, 0x39]
const WORD: CodeRanges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a]
const SPACE: CodeRanges = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20]
const ANY_BUT_NEWLINE: CodeRanges = [0, 0x09, 0x0b, MAX_CODE_POINT]

const SHORT_CLASSES: ReadonlyMap<string, CodeRanges> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', complement(SPACE)],
])

const NAMED_CLASSES: ReadonlyMap<string, CodeRanges> = new Map<string, CodeRanges>([
  ['alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['digit', DIGIT],
  ['lower', [0x61, 0x7a]],
  ['upper', [0x41, 0x5a]],
  ['word', WORD],
  ['xdigit', [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
])

const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
])

/** Thrown inside the parser for syntax that is left to the full engine. */
class Unsupported extends Error {}

/** Parses an expression. Returns `undefined` if it uses syntax that is not supported here; it may still be valid. */
export function parseRegex(pattern: string): RegexNode | undefined {
  try {
    return new RegexParser(pattern).parse()
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}

class RegexParser {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): RegexNode {
    const node = this.#choice()
    if (this.#at < this.#text.length) throw new Unsupported()
    return node
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #accept(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #choice(): RegexNode {
    const branches = [this.#sequence()]
    while (this.#accept('|')) branches.push(this.#sequence())
    return branches.length === 1 ? branches[0]! : { kind: 'choice', branches }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    for (let next = this.#peek(); next !== '' && next !== '|' && next !== ')'; next = this.#peek()) {
      parts.push(this.#quantified(this.#atom()))
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts }
  }

  #quantified(body: RegexNode): RegexNode {
    const bounds = this.#quantifier()
    if (bounds === undefined) return body
    this.#accept('?')
    // A second quantifier is an error. Repeated assertions are too rare to support.
    if ('*+?{'.includes(this.#peek() || ' ') || body.kind === 'begin' || body.kind === 'end') throw new Unsupported()
    const node: RegexNode = { kind: 'repeat', body, min: bounds[0], max: bounds[1] }
    if (repeatFactor(node) > MAX_REPEAT) throw new Unsupported()
    return node
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#accept('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#accept('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#accept('?')) return [0, 1]
    if (this.#peek() !== '{') return undefined
    const counts = /^\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}/.exec(this.#text.slice(this.#at, this.#at + 12))
    if (counts === null) throw new Unsupported()
    this.#at += counts[0].length
    const min = Number(counts[1])
    const max = counts[3] !== undefined ? Number(counts[3]) : counts[2] === undefined ? min : Number.POSITIVE_INFINITY
    if (max < min) throw new Unsupported()
    return [min, max]
  }

  #atom(): RegexNode {
    switch (this.#peek()) {
      case '(':
        return this.#group()
      case '[':
        return { kind: 'set', ranges: this.#class() }
      case '.':
        this.#at++
        return { kind: 'set', ranges: ANY_BUT_NEWLINE }
      case '^':
        this.#at++
        return { kind: 'begin' }
      case '$':
        this.#at++
        return { kind: 'end' }
      case '*':
      case '+':
      case '?':
      case '{':
        throw new Unsupported()
      default: {
        const ranges = this.#shortClass()
        if (ranges !== undefined) return { kind: 'set', ranges }
        const code = this.#character()
        return { kind: 'set', ranges: [code, code] }
      }
    }
  }

  #group(): RegexNode {
    this.#at++
    if (this.#peek() === '?' && !this.#accept('?:')) throw new Unsupported()
    if (++this.#depth > MAX_DEPTH) throw new Unsupported()
    const node = this.#choice()
    this.#depth--
    if (!this.#accept(')')) throw new Unsupported()
    return node
  }

  #class(): CodeRanges {
    this.#at++
    const negated = this.#accept('^')
    const ranges: number[] = []
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      const named = this.#namedClass() ?? this.#shortClass()
      if (named !== undefined) {
        append(ranges, named)
        continue
      }
      const low = this.#character()
      let high = low
      if (this.#peek() === '-' && this.#text.charAt(this.#at + 1) !== ']') {
        this.#at++
        high = this.#character()
        if (high < low) throw new Unsupported()
      }
      ranges.push(low, high)
    }
    this.#at++
    const merged = merge(ranges)
    return negated ? complement(merged) : merged
  }

  #namedClass(): CodeRanges | undefined {
    if (!this.#accept('[:')) return undefined
    const end = this.#text.indexOf(':]', this.#at)
    const ranges = end < 0 ? undefined : NAMED_CLASSES.get(this.#text.slice(this.#at, end))
    if (ranges === undefined) throw new Unsupported()
    this.#at = end + 2
    return ranges
  }

  #shortClass(): CodeRanges | undefined {
    if (this.#peek() !== '\\') return undefined
    const ranges = SHORT_CLASSES.get(this.#text.charAt(this.#at + 1))
    if (ranges !== undefined) this.#at += 2
    return ranges
  }

  /** Reads one code point, literal or escaped. */
  #character(): number {
    const code = this.#text.codePointAt(this.#at)
    if (code === undefined || (code >= 0xd800 && code <= 0xdfff)) throw new Unsupported()
    this.#at += code > 0xffff ? 2 : 1
    if (code !== 0x5c) return code
    const escaped = this.#peek()
    this.#at++
    const control = CONTROL_ESCAPES.get(escaped)
    if (control !== undefined) return control
    // Escaped punctuation stands for itself. The meanings of other escaped letters and digits are rare.
    if (!/^[!-/:-@[-`{-~]$/.test(escaped)) throw new Unsupported()
    return escaped.charCodeAt(0)
  }
}

/** Returns the largest product of counts along any path down the expression. */
function repeatFactor(node: RegexNode): number {
  switch (node.kind) {
    case 'sequence':
      return node.parts.reduce((most, part) => Math.max(most, repeatFactor(part)), 1)
    case 'choice':
      return node.branches.reduce((most, branch) => Math.max(most, repeatFactor(branch)), 1)
    case 'repeat':
      return Math.max(1, Number.isFinite(node.max) ? node.max : node.min) * repeatFactor(node.body)
    default:
      return 1
  }
}

/** Sorts ranges and merges overlapping ones. */
function merge(ranges: readonly number[]): CodeRanges {
  const pairs: (readonly [number, number])[] = []
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i]!, ranges[i + 1]!])
  pairs.sort((a, b) => a[0] - b[0])
  const merged: number[] = []
  for (const [low, high] of pairs) {
    const last = merged.length - 1
    if (last > 0 && low <= merged[last]! + 1) merged[last] = Math.max(merged[last]!, high)
    else merged.push(low, high)
  }
  return merged
}

function complement(ranges: CodeRanges): CodeRanges {
  const result: number[] = []
  let from = 0
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i]! > from) result.push(from, ranges[i]! - 1)
    from = ranges[i + 1]! + 1
  }
  if (from <= MAX_CODE_POINT) result.push(from, MAX_CODE_POINT)
  return result
}
