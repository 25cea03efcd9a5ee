import type { TokenKind } from './lexer.ts'
import { expectedIn, firstOf, type Rest, type RuleFrame } from './syntax-rest.ts'

/** A place in the grammar at which the next token is checked. */
export interface Place {
  /** The element to match next and those after it. */
  readonly rest: Rest | undefined
  /** At a token; before an optional part, a choice or a loop; or after an iteration of a loop. */
  readonly stage: 'token' | 'entry' | 'again'
}

/**
 * What to do about a token that does not fit:
 *
 * - `drop`: the token is surplus, because the next one fits
 * - `assume`: a token is missing, because this one fits after it
 * - `skip`: skip to a token with which the loop or a rule around it can continue
 * - `leave`: end the rule
 */
export type Repair = 'drop' | 'assume' | 'skip' | 'leave'

/** Selects the repair for `token`, which `following` follows; undefined if the token fits. */
export function repairFor(
  { rest, stage }: Place,
  frame: RuleFrame,
  token: TokenKind,
  following: TokenKind,
): Repair | undefined {
  if (stage === 'token' ? firstOf(rest).kinds.has(token) : canContinue(rest, token)) return undefined
  if (stage === 'again') return 'skip'
  if (expectedIn(rest, frame).has(following)) return 'drop'
  if (stage === 'token' && expectedIn(rest?.next, frame).has(token)) return 'assume'
  return 'leave'
}

/** Whether the token can come next in the rule, or the rule may end here and leaves the check to its caller. */
function canContinue(rest: Rest | undefined, token: TokenKind): boolean {
  const next = firstOf(rest)
  return next.canEnd || next.kinds.has(token)
}

/** The tokens that can follow the current rule, its caller, the caller's caller and so on. */
export function tokensAfterRules(frame: RuleFrame): ReadonlySet<TokenKind> {
  const kinds = new Set<TokenKind>()
  for (let rule = frame; rule.caller !== undefined; rule = rule.caller) {
    for (const kind of firstOf(rule.follow).kinds) kinds.add(kind)
  }
  return kinds
}
