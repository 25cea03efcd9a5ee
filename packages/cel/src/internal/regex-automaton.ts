import { append } from '@kubewright/base'
import type { CodeRanges, RegexNode } from './regex-syntax.ts'

const MAX_INSTRUCTIONS = 4096
/** The maximum number of cells (threads and transitions) in all states of one automaton. */
const MAX_CELLS = 32_768

/** One instruction of the program for an expression. `next` refers to positions in the program. */
type Instruction =
  | { readonly kind: 'set'; readonly set: number; readonly next: number }
  | { readonly kind: 'begin' | 'end'; readonly next: number }
  | { readonly kind: 'fork'; readonly next: number[] }
  | { readonly kind: 'match' }

/** A state of the automaton: the set of program positions that the text so far may have reached. */
interface State {
  /** The instructions that wait for a character or for the end of the text. */
  readonly threads: readonly number[]
  /** Transitions by character class, computed on first use. */
  readonly next: (State | undefined)[]
  /** Whether the text matches if it ends here. */
  readonly accepts: boolean
  /** Whether the rest of the text cannot change the result. */
  readonly settled: boolean
}

/**
 * Decides whether a text contains a match, in one pass without backtracking. It is a deterministic automaton whose
 * states are created when a text first reaches them. The time is linear in the length of the text for every expression.
 */
export class RegexAutomaton {
  readonly #program: Instruction[] = [{ kind: 'match' }]
  readonly #entry: number
  readonly #sets: CodeRanges[] = []
  /**
   * The start of each interval of code points with the same class, in ascending order. `#classes` contains the class of
   * each interval.
   */
  readonly #stretches: readonly number[]
  readonly #classes: readonly number[]
  readonly #ascii: Uint16Array
  /** For each set and class: whether the set contains the characters of the class. */
  readonly #members: readonly (readonly boolean[])[]
  readonly #states = new Map<string, State>()
  readonly #start: State
  #cells = 0

  /** Returns the automaton of an expression, or `undefined` if it would be too large. */
  static of(node: RegexNode): RegexAutomaton | undefined {
    return instructionsOf(node) > MAX_INSTRUCTIONS ? undefined : new RegexAutomaton(node)
  }

  private constructor(node: RegexNode) {
    this.#entry = this.#emit(node, 0)
    const { stretches, classes, members } = classify(this.#sets)
    this.#stretches = stretches
    this.#classes = classes
    this.#members = members
    this.#ascii = Uint16Array.from({ length: 128 }, (_, code) => this.#classOf(code))
    this.#start = this.#newState(this.#closure([this.#entry], true), true)
  }

  /** Reports whether the text contains a match; `undefined` if the automaton cannot decide and the full engine must. */
  test(text: string): boolean | undefined {
    const ascii = this.#ascii
    let state = this.#start
    for (let i = 0; i < text.length; i++) {
      if (state.settled) return state.accepts
      const unit = text.charCodeAt(i)
      let kind: number
      if (unit < 128) {
        kind = ascii[unit]!
      } else {
        const code = text.codePointAt(i)!
        if (code > 0xffff) i++
        // A lone surrogate is not a character.
        else if (code >= 0xd800 && code <= 0xdfff) return undefined
        kind = this.#classOf(code)
      }
      const next: State | undefined = state.next[kind] ?? this.#step(state, kind)
      if (next === undefined) return undefined
      state = next
    }
    return state.accepts
  }

  /**
   * Appends the instructions of an expression that continues at `next`. Returns the position of its first instruction.
   */
  #emit(node: RegexNode, next: number): number {
    switch (node.kind) {
      case 'set':
        return this.#program.push({ kind: 'set', set: this.#sets.push(node.ranges) - 1, next }) - 1
      case 'begin':
      case 'end':
        return this.#program.push({ kind: node.kind, next }) - 1
      case 'sequence':
        return node.parts.reduceRight((after, part) => this.#emit(part, after), next)
      case 'choice':
        return this.#program.push({ kind: 'fork', next: node.branches.map((branch) => this.#emit(branch, next)) }) - 1
      case 'repeat':
        return this.#emitRepeat(node.body, node.min, node.max, next)
    }
  }

  #emitRepeat(body: RegexNode, min: number, max: number, next: number): number {
    let entry = next
    if (max === Number.POSITIVE_INFINITY) {
      const targets = [next]
      entry = this.#program.push({ kind: 'fork', next: targets }) - 1
      targets.push(this.#emit(body, entry))
    } else {
      for (let i = min; i < max; i++) {
        entry = this.#program.push({ kind: 'fork', next: [this.#emit(body, entry), next] }) - 1
      }
    }
    for (let i = 0; i < min; i++) entry = this.#emit(body, entry)
    return entry
  }

  #classOf(code: number): number {
    let low = 0
    let high = this.#stretches.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#stretches[middle]! <= code) low = middle
      else high = middle - 1
    }
    return this.#classes[low]!
  }

  #step(state: State, kind: number): State | undefined {
    const targets: number[] = []
    for (const thread of state.threads) {
      const instruction = this.#program[thread]!
      if (instruction.kind === 'set' && this.#members[instruction.set]![kind]) targets.push(instruction.next)
    }
    // A match may start at every character.
    targets.push(this.#entry)
    const threads = this.#closure(targets, false)
    const key = threads.join()
    let next = this.#states.get(key)
    if (next === undefined) {
      if (this.#cells >= MAX_CELLS) return undefined
      next = this.#newState(threads, false)
      this.#states.set(key, next)
    }
    state.next[kind] = next
    return next
  }

  #newState(threads: readonly number[], atBegin: boolean): State {
    const matched = threads[0] === 0
    const ends = threads.flatMap((thread) => {
      const instruction = this.#program[thread]!
      return instruction.kind === 'end' ? [instruction.next] : []
    })
    const classes = this.#members[0]?.length ?? 1
    this.#cells += threads.length + classes
    return {
      threads,
      next: new Array<State | undefined>(classes).fill(undefined),
      accepts: matched || (ends.length > 0 && this.#closure(ends, atBegin, true)[0] === 0),
      settled: matched || threads.length === 0,
    }
  }

  /**
   * Returns the instructions reachable without consuming a character, sorted. If the match instruction (position 0) is
   * reachable, the others are irrelevant.
   */
  #closure(from: readonly number[], atBegin: boolean, atEnd = false): number[] {
    const seen = new Set<number>()
    const open = [...from]
    const waiting: number[] = []
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      const instruction = this.#program[at]!
      switch (instruction.kind) {
        case 'match':
          return [0]
        case 'fork':
          append(open, instruction.next)
          break
        case 'begin':
          if (atBegin) open.push(instruction.next)
          break
        case 'end':
          if (atEnd) open.push(instruction.next)
          else waiting.push(at)
          break
        default:
          waiting.push(at)
      }
    }
    return waiting.sort((a, b) => a - b)
  }
}

/** Returns the number of instructions that an expression needs. */
function instructionsOf(node: RegexNode): number {
  switch (node.kind) {
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + instructionsOf(part), 0)
    case 'choice':
      return node.branches.reduce((sum, branch) => sum + instructionsOf(branch), 1)
    case 'repeat':
      return (Number.isFinite(node.max) ? node.max : node.min + 1) * (instructionsOf(node.body) + 1)
    default:
      return 1
  }
}

interface Classification {
  readonly stretches: readonly number[]
  readonly classes: readonly number[]
  readonly members: readonly (readonly boolean[])[]
}

/** Partitions all code points into classes: the members of a class belong to the same sets. */
function classify(sets: readonly CodeRanges[]): Classification {
  // A repeated set occurs many times in the program but is classified once.
  const distinct = [...new Set(sets)]
  const bounds = new Set([0])
  for (const ranges of distinct) {
    for (let i = 0; i < ranges.length; i += 2) bounds.add(ranges[i]!).add(ranges[i + 1]! + 1)
  }
  const stretches = [...bounds].sort((a, b) => a - b)
  const numbers = new Map<string, number>()
  const examples: number[] = []
  const classes = stretches.map((start) => {
    const key = distinct.map((ranges) => (includes(ranges, start) ? '1' : '0')).join('')
    let number = numbers.get(key)
    if (number === undefined) {
      number = examples.push(start) - 1
      numbers.set(key, number)
    }
    return number
  })
  const rows = new Map(distinct.map((ranges) => [ranges, examples.map((code) => includes(ranges, code))]))
  return { stretches, classes, members: sets.map((ranges) => rows.get(ranges)!) }
}

function includes(ranges: CodeRanges, code: number): boolean {
  for (let i = 0; i < ranges.length; i += 2) if (code >= ranges[i]! && code <= ranges[i + 1]!) return true
  return false
}
