import { CaughtError } from '@kubewright/base'
import type { Token } from './lexer.ts'
import { GRAMMAR, type Sequence } from './syntax-grammar.ts'
import { type Rest, type RuleFrame, restOf } from './syntax-rest.ts'

/**
 * Thrown when no alternative fits. `start` is the token at which the decision began, `offending` the token that ruled
 * out the last alternative.
 */
export class NoViableAlternative extends CaughtError {
  readonly start: number
  readonly offending: number

  constructor(start: number, offending: number) {
    super()
    this.start = start
    this.offending = offending
  }
}

/**
 * One possible continuation: the elements left to match, here and in the callers. The stacks of callers share their
 * tails.
 */
interface Thread {
  readonly alternative: number
  readonly rest: Rest | undefined
  readonly frame: Callers | undefined
  /** Whether the thread has left the rule that contains the decision. */
  readonly isOutside: boolean
}

interface Callers {
  readonly follow: Rest | undefined
  readonly next: Callers | undefined
  /** Whether this caller existed before the decision. */
  readonly isOuter: boolean
}

const MAX_THREADS = 2000

/** Thrown when a diagnosis has used up its work. */
export class TooMuchWork extends CaughtError {}

/** Limits the work of a diagnosis: long expressions could otherwise take seconds. */
export class WorkLimit {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Counts steps. Throws {@link TooMuchWork} when none are left. */
  take(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new TooMuchWork()
  }
}

/**
 * Returns the alternative to take, with unlimited lookahead like ANTLR's adaptive prediction: alternatives are
 * eliminated token by token until one is left. If all are eliminated, an alternative that could have ended the rule is
 * taken; if there is none, throws NoViableAlternative.
 */
export function predict(tokens: readonly Token[], at: number, here: Rest, frame: RuleFrame, work: WorkLimit): number {
  const callers = outerCallers(frame)
  let threads: Thread[] = []
  for (const [alternative, rest] of alternativesOf(here, frame)) {
    expand({ alternative, rest, frame: callers, isOutside: false }, threads, work)
  }
  for (let i = at; ; i++) {
    const token = tokens[Math.min(i, tokens.length - 1)]!
    const reached: Thread[] = []
    for (const thread of threads) {
      if (thread.rest?.element.type !== 'token' || !thread.rest.element.kinds.has(token.kind)) continue
      expand({ ...thread, rest: thread.rest.next }, reached, work)
    }
    if (reached.length === 0) {
      const finished = threads.filter((t) => t.isOutside).map((t) => t.alternative)
      if (finished.length > 0) return smallest(finished)
      throw new NoViableAlternative(at, Math.min(i, tokens.length - 1))
    }
    const left = new Set(reached.map((t) => t.alternative))
    if (left.size === 1 || token.kind === 'EOF' || reached.length > MAX_THREADS || isAmbiguous(reached, work))
      return smallest([...left])
    threads = reached
  }
}

function outerCallers(frame: RuleFrame): Callers | undefined {
  if (frame.caller === undefined) return undefined
  return { follow: frame.follow, next: outerCallers(frame.caller), isOuter: true }
}

function* alternativesOf(here: Rest, frame: RuleFrame): Iterable<readonly [number, Rest | undefined]> {
  const { element, next } = here
  if (element.type === 'choice') {
    for (const [i, a] of element.alternatives.entries()) {
      if (a.precedence >= frame.precedence) yield [i, restOf(a.body, next)]
    }
  } else if (element.type === 'loop') {
    for (const body of iterationsOf(element.body, frame)) yield [0, restOf(body, here)]
    yield [1, next]
  }
}

/** The possible bodies of an iteration. A loop of a left-recursive rule is entered only for operators of sufficient precedence. */
function iterationsOf(body: Sequence, frame: RuleFrame): readonly Sequence[] {
  const [first, ...others] = body
  if (first?.type !== 'choice') return [body]
  return first.alternatives.filter((a) => a.precedence >= frame.precedence).map((a) => [...a.body, ...others])
}

/** Advances a thread to the tokens that it can match next. */
function expand(thread: Thread, out: Thread[], work: WorkLimit): void {
  work.take(1)
  const { rest } = thread
  if (rest === undefined) {
    const caller = thread.frame
    if (caller === undefined) {
      out.push({ ...thread, isOutside: true })
      return
    }
    expand(
      { ...thread, rest: caller.follow, frame: caller.next, isOutside: thread.isOutside || caller.isOuter },
      out,
      work,
    )
    return
  }
  const { element, next } = rest
  const go = (r: Rest | undefined): void => expand({ ...thread, rest: r }, out, work)
  switch (element.type) {
    case 'token':
      out.push(thread)
      return
    case 'rule': {
      const callers: Callers = { follow: next, next: thread.frame, isOuter: false }
      expand({ ...thread, rest: restOf(GRAMMAR[element.name], undefined), frame: callers }, out, work)
      return
    }
    case 'optional':
      go(restOf(element.body, next))
      go(next)
      return
    case 'loop': {
      go(restOf(element.body, element.atLeastOne ? { element: { ...element, atLeastOne: false }, next } : rest))
      if (!element.atLeastOne) go(next)
      return
    }
    case 'choice':
      for (const a of element.alternatives) go(restOf(a.body, next))
  }
}

/** Reports whether every continuation belongs to more than one alternative, so that further lookahead cannot decide. */
function isAmbiguous(threads: readonly Thread[], work: WorkLimit): boolean {
  const alternatives = new Map<string, Set<number>>()
  for (const thread of threads) {
    const key = stackKey(thread, work)
    const known = alternatives.get(key)
    if (known === undefined) alternatives.set(key, new Set([thread.alternative]))
    else known.add(thread.alternative)
  }
  for (const set of alternatives.values()) if (set.size === 1) return false
  return true
}

function smallest(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b))
}

function stackKey(thread: Thread, work: WorkLimit): string {
  const parts: number[] = []
  for (let r = thread.rest; r !== undefined; r = r.next) parts.push(r.element.id)
  for (let f = thread.frame; f !== undefined; f = f.next) {
    // Callers without remaining elements make no difference.
    for (let r = f.follow; r !== undefined; r = r.next) parts.push(r.element.id)
  }
  work.take(parts.length)
  return parts.join(',')
}
