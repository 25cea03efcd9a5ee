import type { Token } from './lexer.ts'
import type { Rest, RuleFrame } from './syntax-diagnosis.ts'
import { restOf } from './syntax-diagnosis.ts'
import { GRAMMAR } from './syntax-grammar.ts'

/** Thrown when no alternative fits: the tokens from where the decision was made to the one that ruled out the last of them. */
export class NoViableAlternative extends Error {
  readonly start: number
  readonly offending: number

  constructor(start: number, offending: number) {
    super()
    this.start = start
    this.offending = offending
  }
}

/** One way to go on: what is left to match, here and in the callers, as a stack that shares its tail. */
interface Thread {
  readonly alternative: number
  readonly rest: Rest | undefined
  readonly frame: Callers | undefined
  /** Whether the rule of the decision has been left. */
  readonly isOutside: boolean
}

interface Callers {
  readonly follow: Rest | undefined
  readonly next: Callers | undefined
  /** Set on callers that were there before the decision. */
  readonly isOuter: boolean
}

const MAX_THREADS = 2000

/**
 * The alternative to take, from as much lookahead as it needs, like ANTLR's adaptive prediction: alternatives drop out until one is
 * left; if all do, one that could have ended the rule is taken, and only if there is none is there an error.
 */
export function predict(tokens: readonly Token[], at: number, here: Rest, frame: RuleFrame): number {
  const callers = outerCallers(frame)
  let threads: Thread[] = []
  for (const [alternative, rest] of alternativesOf(here, frame)) {
    expand({ alternative, rest, frame: callers, isOutside: false }, threads, new Set())
  }
  for (let i = at; ; i++) {
    const token = tokens[Math.min(i, tokens.length - 1)]!
    const reached: Thread[] = []
    for (const thread of threads) {
      if (thread.rest?.element.type !== 'token' || !thread.rest.element.kinds.has(token.kind)) continue
      expand({ ...thread, rest: thread.rest.next }, reached, new Set())
    }
    if (reached.length === 0) {
      const finished = threads.filter((t) => t.isOutside).map((t) => t.alternative)
      if (finished.length > 0) return Math.min(...finished)
      throw new NoViableAlternative(at, Math.min(i, tokens.length - 1))
    }
    const left = new Set(reached.map((t) => t.alternative))
    if (left.size === 1 || token.kind === 'EOF' || reached.length > MAX_THREADS || isAmbiguous(reached))
      return Math.min(...left)
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
    if (mayIterate(element.body, frame)) yield [0, restOf(element.body, here)]
    yield [1, next]
  }
}

/** A loop of a left-recursive rule is entered only for operators that bind strongly enough. */
function mayIterate(body: Rest['element'][] | readonly Rest['element'][], frame: RuleFrame): boolean {
  const first = body[0]
  return first?.type !== 'choice' || first.alternatives.some((a) => a.precedence >= frame.precedence)
}

/** Follows a thread to the tokens that it can match next. */
function expand(thread: Thread, out: Thread[], seen: Set<string>): void {
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
      seen,
    )
    return
  }
  const { element, next } = rest
  const go = (r: Rest | undefined): void => expand({ ...thread, rest: r }, out, seen)
  switch (element.type) {
    case 'token':
      out.push(thread)
      return
    case 'rule': {
      const callers: Callers = { follow: next, next: thread.frame, isOuter: false }
      expand({ ...thread, rest: restOf(GRAMMAR[element.name], undefined), frame: callers }, out, seen)
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

/** Whether every way to go on is open to more than one alternative, so that looking further cannot help. */
function isAmbiguous(threads: readonly Thread[]): boolean {
  const alternatives = new Map<string, Set<number>>()
  for (const thread of threads) {
    const key = stackKey(thread)
    const known = alternatives.get(key)
    if (known === undefined) alternatives.set(key, new Set([thread.alternative]))
    else known.add(thread.alternative)
  }
  for (const set of alternatives.values()) if (set.size === 1) return false
  return true
}

function stackKey(thread: Thread): string {
  const parts: number[] = []
  for (let r = thread.rest; r !== undefined; r = r.next) parts.push(r.element.id)
  for (let f = thread.frame; f !== undefined; f = f.next) {
    // callers with nothing left to match make no difference
    for (let r = f.follow; r !== undefined; r = r.next) parts.push(r.element.id)
  }
  return parts.join(',')
}
