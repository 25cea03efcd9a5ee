import type { TokenKind } from './lexer.ts'
import { type Element, GRAMMAR, type RuleName, type Sequence } from './syntax-grammar.ts'

/** The unmatched rest of a rule: an element and the elements after it. Rests share their tails. */
export interface Rest {
  readonly element: Element
  readonly next: Rest | undefined
}

/** An active rule and the rest of the rule that called it. */
export interface RuleFrame {
  readonly follow: Rest | undefined
  readonly precedence: number
  readonly caller: RuleFrame | undefined
}

/** The tokens that can come next. `canEnd` means that the rule may also end here. */
export interface NextTokens {
  readonly kinds: Set<TokenKind>
  readonly canEnd: boolean
}

/** Returns `seq` followed by `rest`. The result shares `rest`, so that callers can compare tails by identity. */
export function restOf(seq: Sequence, rest: Rest | undefined): Rest | undefined {
  let result = rest
  for (let i = seq.length - 1; i >= 0; i--) result = { element: seq[i]!, next: result }
  return result
}

/** Returns the tokens that can come next, in the rule or, if it may end, in its callers. */
export function expectedIn(rest: Rest | undefined, frame: RuleFrame): Set<TokenKind> {
  const kinds = new Set<TokenKind>()
  let next = firstOf(rest)
  for (const kind of next.kinds) kinds.add(kind)
  for (let f: RuleFrame | undefined = frame; next.canEnd; f = f.caller) {
    if (f?.caller === undefined) {
      kinds.add('EOF')
      break
    }
    next = firstOf(f.follow)
    for (const kind of next.kinds) kinds.add(kind)
  }
  return kinds
}

const ruleFirsts = new Map<RuleName, NextTokens>()

/** Returns the tokens that can come next within the rule. */
export function firstOf(rest: Rest | undefined): NextTokens {
  const kinds = new Set<TokenKind>()
  for (let r = rest; r !== undefined; r = r.next) {
    const first = firstOfElement(r.element)
    for (const kind of first.kinds) kinds.add(kind)
    if (!first.canEnd) return { kinds, canEnd: false }
  }
  return { kinds, canEnd: true }
}

function firstOfElement(element: Element): NextTokens {
  switch (element.type) {
    case 'token':
      return { kinds: new Set(element.kinds), canEnd: false }
    case 'rule': {
      let first = ruleFirsts.get(element.name)
      if (first === undefined) ruleFirsts.set(element.name, (first = firstOf(restOf(GRAMMAR[element.name], undefined))))
      return first
    }
    case 'optional':
      return { kinds: firstOf(restOf(element.body, undefined)).kinds, canEnd: true }
    case 'loop':
      return { kinds: firstOf(restOf(element.body, undefined)).kinds, canEnd: !element.atLeastOne }
    case 'choice': {
      const kinds = new Set<TokenKind>()
      for (const alternative of element.alternatives) {
        for (const kind of firstOf(restOf(alternative.body, undefined)).kinds) kinds.add(kind)
      }
      return { kinds, canEnd: false }
    }
  }
}
