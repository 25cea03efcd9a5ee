import type { TokenKind } from './lexer.ts'

/**
 * CEL's grammar in ANTLR's form. It is used for error messages only; the parser itself is hand-written. As in ANTLR's
 * rewriting, left-recursive rules are loops whose alternatives have a precedence.
 */
export type Element =
  | { readonly type: 'token'; readonly id: number; readonly kinds: ReadonlySet<TokenKind> }
  | { readonly type: 'rule'; readonly id: number; readonly name: RuleName; readonly precedence: number }
  | { readonly type: 'optional'; readonly id: number; readonly body: Sequence }
  /** `adaptive`: decided with unlimited lookahead instead of the next token only. */
  | {
      readonly type: 'loop'
      readonly id: number
      readonly body: Sequence
      readonly adaptive: boolean
      readonly atLeastOne: boolean
    }
  | {
      readonly type: 'choice'
      readonly id: number
      readonly alternatives: readonly Alternative[]
      readonly adaptive: boolean
    }

/** Consecutive elements. */
export type Sequence = readonly Element[]

/** One alternative of a choice. */
export interface Alternative {
  readonly body: Sequence
  /** The alternative is available only if the rule was entered with at most this precedence. */
  readonly precedence: number
}

/** The names of the rules. */
export type RuleName =
  | 'start'
  | 'expr'
  | 'conditionalOr'
  | 'conditionalAnd'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInitializerList'
  | 'optField'
  | 'mapInitializerList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal'

let ids = 0

function t(...kinds: TokenKind[]): Element {
  return { type: 'token', id: ids++, kinds: new Set(kinds) }
}

function r(name: RuleName, precedence = 0): Element {
  return { type: 'rule', id: ids++, name, precedence }
}

function opt(...body: Sequence): Element {
  return { type: 'optional', id: ids++, body }
}

function loop(...body: Sequence): Element {
  return { type: 'loop', id: ids++, body, adaptive: false, atLeastOne: false }
}

function adaptiveLoop(...body: Sequence): Element {
  return { type: 'loop', id: ids++, body, adaptive: true, atLeastOne: false }
}

function plus(adaptive: boolean, ...body: Sequence): Element {
  return { type: 'loop', id: ids++, body, adaptive, atLeastOne: true }
}

function choice(...alternatives: readonly Sequence[]): Element {
  return leveled(...alternatives.map((body) => [Number.POSITIVE_INFINITY, body] as const))
}

function leveled(...alternatives: readonly (readonly [number, Sequence])[]): Element {
  return {
    type: 'choice',
    id: ids++,
    alternatives: alternatives.map(([precedence, body]) => ({ precedence, body })),
    adaptive: true,
  }
}

/** The rules by name. */
export const GRAMMAR: Readonly<Record<RuleName, Sequence>> = {
  start: [r('expr'), t('EOF')],
  expr: [r('conditionalOr'), opt(t('?'), r('conditionalOr'), t(':'), r('expr'))],
  conditionalOr: [r('conditionalAnd'), loop(t('||'), r('conditionalAnd'))],
  conditionalAnd: [r('relation'), loop(t('&&'), r('relation'))],
  relation: [r('calc'), adaptiveLoop(leveled([1, [t('<', '<=', '>=', '>', '==', '!=', 'in'), r('relation', 2)]]))],
  calc: [r('unary'), adaptiveLoop(leveled([2, [t('*', '/', '%'), r('calc', 3)]], [1, [t('+', '-'), r('calc', 2)]]))],
  unary: [choice([r('member')], [plus(false, t('!')), r('member')], [plus(true, t('-')), r('member')])],
  member: [
    r('primary'),
    adaptiveLoop(
      choice(
        [t('.'), opt(t('?')), r('escapeIdent')],
        [t('.'), t('IDENTIFIER'), t('('), opt(r('exprList')), t(')')],
        [t('['), opt(t('?')), r('expr'), t(']')],
      ),
    ),
  ],
  primary: [
    choice(
      [opt(t('.')), t('IDENTIFIER')],
      [opt(t('.')), t('IDENTIFIER'), t('('), opt(r('exprList')), t(')')],
      [t('('), r('expr'), t(')')],
      [t('['), opt(r('listInit')), opt(t(',')), t(']')],
      [t('{'), opt(r('mapInitializerList')), opt(t(',')), t('}')],
      [
        opt(t('.')),
        t('IDENTIFIER'),
        loop(t('.'), t('IDENTIFIER')),
        t('{'),
        opt(r('fieldInitializerList')),
        opt(t(',')),
        t('}'),
      ],
      [r('literal')],
    ),
  ],
  exprList: [r('expr'), loop(t(','), r('expr'))],
  listInit: [r('optExpr'), adaptiveLoop(t(','), r('optExpr'))],
  fieldInitializerList: [r('optField'), t(':'), r('expr'), adaptiveLoop(t(','), r('optField'), t(':'), r('expr'))],
  optField: [opt(t('?')), r('escapeIdent')],
  mapInitializerList: [r('optExpr'), t(':'), r('expr'), adaptiveLoop(t(','), r('optExpr'), t(':'), r('expr'))],
  escapeIdent: [{ ...choice([t('IDENTIFIER')], [t('ESC_IDENTIFIER')]), adaptive: false } as Element],
  optExpr: [opt(t('?')), r('expr')],
  literal: [
    choice(
      [opt(t('-')), t('NUM_INT')],
      [t('NUM_UINT')],
      [opt(t('-')), t('NUM_FLOAT')],
      [t('STRING')],
      [t('BYTES')],
      [t('true')],
      [t('false')],
      [t('null')],
    ),
  ],
}

/**
 * Tokens in the order in which messages list them. Names in capitals are token classes and are printed without quotes.
 */
const ORDER =
  '<EOF> == != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER ESC_IDENTIFIER'.split(
    ' ',
  )

/** Formats a set of tokens for messages. */
export function printTokens(kinds: ReadonlySet<TokenKind>): string {
  const names = [...kinds].map((kind) => (kind === 'EOF' ? '<EOF>' : kind))
  names.sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  const shown = names.map((name) => (name === '<EOF>' || /^[A-Z_]+$/.test(name) ? name : `'${name}'`))
  return shown.length === 1 ? shown[0]! : `{${shown.join(', ')}}`
}
