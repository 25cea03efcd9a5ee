import { append, CaughtError, defineBudget, errorText } from '@kubewright/base'
import { type Expr, type MapEntry, OPERATORS, type StructField } from './ast.ts'
import { DepthExceeded, DepthTracker } from './depth-tracker.ts'
import { ExprBuilder, MacroError } from './expr-builder.ts'
import { type Token, type TokenKind, tokenize, type UnrecognizedText } from './lexer.ts'
import { isLiteral, literalValue } from './literal-value.ts'
import type { CelMacro } from './macro.ts'
import { macroKey } from './macro-key.ts'
import { PRODUCTS, RELATIONS, RESERVED, SUMS } from './operator-tokens.ts'
import { issuesOfRepaired } from './repaired-tree.ts'
import { compileError, type SourceIssue } from './source.ts'
import { diagnoseSyntax } from './syntax-diagnosis.ts'

/** A parsed expression: the tree and, through the builder, the source offset of each node. */
export interface ParsedExpr {
  readonly source: string
  readonly expr: Expr
  readonly builder: ExprBuilder
}

const MAX_SOURCE_LENGTH = defineBudget(100_000, {
  group: 'server',
  what: 'length of a CEL expression',
  shown: '{} characters',
  answer: 'the expression is invalid',
  kubernetes: 'yes',
})

/** Thrown inside the parser at the first token that does not fit. `diagnoseSyntax` then computes the messages. */
class SyntaxMismatch extends CaughtError {}

/** Parses an expression and expands its macros. Throws a CelCompileError. */
export function parse(source: string, macros: ReadonlyMap<string, CelMacro>): ParsedExpr {
  const issues: SourceIssue[] = []
  const length = Array.from(source).length
  if (length > MAX_SOURCE_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${MAX_SOURCE_LENGTH}`
    throw compileError(source, [{ offset: -1, message }])
  }
  const lexical: UnrecognizedText[] = []
  const tokens = tokenize(source, lexical)
  append(issues, lexical)
  const parser = new Parser(tokens, macros, issues)
  let expr: Expr | undefined
  try {
    expr = parser.parseAll()
  } catch (e) {
    if (e instanceof DepthExceeded) {
      issues.push({ offset: -1, message: e.message })
    } else if (e instanceof SyntaxMismatch) {
      // At the same position, syntax errors come first.
      const { issues: found, tree } = diagnoseSyntax({ source, tokens, lexical }, parser.token)
      throw compileError(source, [...found, ...(tree ? [...lexical, ...issuesOfRepaired(tree, macros)] : issues)])
    } else {
      throw e
    }
  }
  if (issues.length > 0 || expr === undefined) throw compileError(source, issues)
  return { source, expr, builder: parser.builder }
}

/**
 * A recursive-descent parser for CEL. From the lowest to the highest precedence:
 *
 * - expr: or ['?' or ':' expr]
 * - or: and {'||' and}, and: relation {'&&' relation}
 * - relation, sum, product: left-associative operators
 * - unary: any number of '!' or '-', then member
 * - member: primary {'.' name ['(' args ')'] | '[' expr ']'}
 *
 * A token that does not fit throws a SyntaxMismatch; this class computes no syntax error messages. Other errors, such
 * as reserved identifiers, are collected in `issues`, and parsing continues.
 */
class Parser {
  readonly builder: ExprBuilder = new ExprBuilder()
  readonly #tokens: readonly Token[]
  readonly #macros: ReadonlyMap<string, CelMacro>
  readonly #issues: SourceIssue[]
  #at = 0
  readonly #depth = new DepthTracker()

  constructor(tokens: readonly Token[], macros: ReadonlyMap<string, CelMacro>, issues: SourceIssue[]) {
    this.#tokens = tokens
    this.#macros = macros
    this.#issues = issues
  }

  parseAll(): Expr {
    const expr = this.#expr()
    this.#expect('EOF')
    return expr
  }

  /** The next token; after a SyntaxMismatch, the one that did not fit. */
  get token(): Token {
    return this.#tokens[this.#at]!
  }

  #is(kind: TokenKind): boolean {
    return this.#tokens[this.#at]!.kind === kind
  }

  /** Consumes the next token if it is of this kind. */
  #accept(kind: TokenKind): Token | undefined {
    const token = this.token
    if (token.kind !== kind) return undefined
    this.#at++
    return token
  }

  /** Consumes the next token, which must be of this kind. EOF is never consumed. */
  #expect(kind: TokenKind): Token {
    const token = this.token
    if (token.kind !== kind) throw new SyntaxMismatch()
    if (kind !== 'EOF') this.#at++
    return token
  }

  #expr(): Expr {
    this.#depth.enter()
    const condition = this.#logical('||', OPERATORS.or, () =>
      this.#logical('&&', OPERATORS.and, () => this.#relation()),
    )
    const op = this.#accept('?')
    let result = condition
    if (op !== undefined) {
      const id = this.builder.id(op.start)
      const yes = this.#logical('||', OPERATORS.or, () => this.#logical('&&', OPERATORS.and, () => this.#relation()))
      this.#expect(':')
      const no = this.#expr()
      result = this.#depth.deeper(
        this.builder.call(id, OPERATORS.conditional, [condition, yes, no]),
        condition,
        yes,
        no,
      )
    }
    this.#depth.leave()
    return result
  }

  /** Parses a chain of `&&` or `||` into a balanced tree: the operators are associative, and the tree stays flat. */
  #logical(kind: '&&' | '||', fn: string, term: () => Expr): Expr {
    const first = term()
    if (!this.#is(kind)) return first
    const terms = [first]
    const ops: number[] = []
    for (let op = this.#accept(kind); op !== undefined; op = this.#accept(kind)) {
      terms.push(term())
      ops.push(this.builder.id(op.start))
    }
    const tree = (low: number, high: number): Expr => {
      const mid = (low + high + 1) >> 1
      const left = mid === low ? terms[mid]! : tree(low, mid - 1)
      const right = mid === high ? terms[mid + 1]! : tree(mid + 1, high)
      return this.#depth.asDeep(this.builder.call(ops[mid]!, fn, [left, right]), [left, right])
    }
    return tree(0, ops.length - 1)
  }

  #relation(): Expr {
    return this.#leftAssociative(RELATIONS, () =>
      this.#leftAssociative(SUMS, () => this.#leftAssociative(PRODUCTS, () => this.#unary())),
    )
  }

  #leftAssociative(operators: ReadonlyMap<TokenKind, string>, operand: () => Expr): Expr {
    let left = operand()
    for (;;) {
      const token = this.token
      const fn = operators.get(token.kind)
      if (fn === undefined) return left
      this.#at++
      const id = this.builder.id(token.start)
      const right = operand()
      left = this.#depth.deeper(this.builder.call(id, fn, [left, right]), left, right)
    }
  }

  #unary(): Expr {
    const token = this.token
    if (token.kind === '!') return this.#prefixed('!', OPERATORS.not)
    if (token.kind === '-') {
      const next = this.#tokens[this.#at + 1]!.kind
      // A sign directly before a number belongs to the literal.
      if (next !== 'NUM_INT' && next !== 'NUM_FLOAT') return this.#prefixed('-', OPERATORS.negate)
    }
    return this.#member()
  }

  /** Parses a run of prefix operators. As in cel-go, pairs cancel out: an even number of operators has no effect. */
  #prefixed(kind: '!' | '-', fn: string): Expr {
    const first = this.token
    let count = 0
    while (this.#accept(kind) !== undefined) count++
    if (count % 2 === 0) return this.#member()
    const id = this.builder.id(first.start)
    const operand = this.#member()
    return this.#depth.asDeep(this.builder.call(id, fn, [operand]), [operand])
  }

  #member(): Expr {
    let operand = this.#primary()
    for (;;) {
      const op = this.token
      if (op.kind === '.') {
        this.#at++
        operand = this.#selectOrCall(operand, op)
      } else if (op.kind === '[') {
        this.#at++
        const optional = this.#accept('?') !== undefined
        const id = this.builder.id(op.start)
        const index = this.#expr()
        this.#expect(']')
        const fn = optional ? OPERATORS.optIndex : OPERATORS.index
        operand = this.#depth.deeper(this.builder.call(id, fn, [operand, index]), operand, index)
      } else {
        return operand
      }
    }
  }

  #selectOrCall(operand: Expr, op: Token): Expr {
    const optional = this.#accept('?') !== undefined
    const name = this.#accept('IDENTIFIER') ?? this.#accept('ESC_IDENTIFIER')
    if (name === undefined) throw new SyntaxMismatch()
    if (name.kind === 'ESC_IDENTIFIER') this.#report(name.start, "unsupported syntax: '`'")
    if (optional) {
      const field = this.builder.literal(name.start, name.text)
      return this.#depth.deeper(
        this.builder.call(this.builder.id(op.start), OPERATORS.optSelect, [operand, field]),
        operand,
      )
    }
    const open = name.kind === 'IDENTIFIER' ? this.#accept('(') : undefined
    if (open === undefined) {
      const id = this.builder.id(op.start)
      return this.#depth.deeper({ kind: 'select', id, operand, field: name.text, testOnly: false }, operand)
    }
    const id = this.builder.id(open.start)
    const args = this.#arguments()
    return this.#depth.deeper(this.#callOrMacro(id, name.text, args, operand), operand, ...args)
  }

  #arguments(): Expr[] {
    const args: Expr[] = []
    if (this.#accept(')') !== undefined) return args
    do args.push(this.#expr())
    while (this.#accept(',') !== undefined)
    this.#expect(')')
    return args
  }

  /** Creates a call, or the expansion of the macro that is registered for it. */
  #callOrMacro(id: number, fn: string, args: readonly Expr[], target?: Expr): Expr {
    const macro = this.#macros.get(macroKey(fn, args.length, target !== undefined))
    if (macro !== undefined) {
      try {
        const expanded = macro.expand(this.builder.macroFactory(this.builder.offsetOf(id)), target, args)
        if (expanded !== undefined) return expanded
      } catch (e) {
        if (!(e instanceof MacroError)) throw e
        return this.#report(e.offset, e.message)
      }
    }
    return this.builder.call(id, fn, args, target)
  }

  /** Records an issue that does not stop the parser. Returns a placeholder for the expression. */
  #report(offset: number, message: string): Expr {
    this.#issues.push({ offset, message })
    return this.builder.literal(offset, null)
  }

  #primary(): Expr {
    const token = this.token
    switch (token.kind) {
      case '(': {
        this.#at++
        const inner = this.#expr()
        this.#expect(')')
        return inner
      }
      case '[':
        this.#at++
        return this.#list(token)
      case '{':
        this.#at++
        return this.#map(token)
      case '.':
      case 'IDENTIFIER':
        return this.#name()
      default:
        return this.#literal()
    }
  }

  /** Parses an identifier, a global call or an object literal, all of which may start with a dot. */
  #name(): Expr {
    const start = this.token.start
    const dot = this.#accept('.') === undefined ? '' : '.'
    const name = this.#expect('IDENTIFIER')
    const struct = this.#structName(name)
    if (struct !== undefined) {
      const open = this.#expect('{')
      return this.#struct(open, dot + struct)
    }
    const open = this.#accept('(')
    const args = open === undefined ? undefined : { id: this.builder.id(open.start), list: this.#arguments() }
    if (RESERVED.has(name.text)) return this.#report(start, `reserved identifier: ${name.text}`)
    if (args === undefined) return { kind: 'ident', id: this.builder.id(name.start), name: dot + name.text }
    return this.#depth.asDeep(this.#callOrMacro(args.id, dot + name.text, args.list), args.list)
  }

  /** Looks ahead for `a.b.c {`. If the brace is there, consumes the names. */
  #structName(first: Token): string | undefined {
    let at = this.#at
    let name = first.text
    while (this.#tokens[at]!.kind === '.' && this.#tokens[at + 1]!.kind === 'IDENTIFIER') {
      name += `.${this.#tokens[at + 1]!.text}`
      at += 2
    }
    if (this.#tokens[at]!.kind !== '{') return undefined
    this.#at = at
    return name
  }

  #list(open: Token): Expr {
    const id = this.builder.id(open.start)
    const elements: Expr[] = []
    const optional: number[] = []
    this.#elements(']', () => {
      if (this.#accept('?') !== undefined) optional.push(elements.length)
      elements.push(this.#expr())
    })
    return this.#depth.asDeep({ kind: 'list', id, elements, optional }, elements)
  }

  #map(open: Token): Expr {
    const id = this.builder.id(open.start)
    const entries: MapEntry[] = []
    this.#elements('}', () => {
      const optional = this.#accept('?') !== undefined
      const key = this.#expr()
      const colon = this.#expect(':')
      entries.push({ id: this.builder.id(colon.start), key, value: this.#expr(), optional })
    })
    return this.#depth.asDeep(
      { kind: 'map', id, entries },
      entries.flatMap((e) => [e.key, e.value]),
    )
  }

  #struct(open: Token, typeName: string): Expr {
    const id = this.builder.id(open.start)
    const fields: StructField[] = []
    this.#elements('}', () => {
      const optional = this.#accept('?') !== undefined
      const name = this.#accept('IDENTIFIER') ?? this.#accept('ESC_IDENTIFIER')
      if (name === undefined) throw new SyntaxMismatch()
      const colon = this.#expect(':')
      if (name.kind === 'ESC_IDENTIFIER') this.#report(name.start, "unsupported syntax: '`'")
      fields.push({ id: this.builder.id(colon.start), name: name.text, value: this.#expr(), optional })
    })
    return this.#depth.asDeep(
      { kind: 'struct', id, typeName, fields },
      fields.map((f) => f.value),
    )
  }

  /** `element? (',' element)* ','? close`. */
  #elements(close: TokenKind, element: () => void): void {
    if (this.#accept(',') !== undefined) {
      this.#expect(close)
      return
    }
    while (this.#accept(close) === undefined) {
      element()
      if (this.#accept(',') === undefined) {
        this.#expect(close)
        return
      }
    }
  }

  #literal(): Expr {
    const start = this.token.start
    const isNegative = this.#accept('-') !== undefined
    const token = this.token
    if (!isLiteral(token)) throw new SyntaxMismatch()
    this.#at++
    try {
      return this.builder.literal(start, literalValue(token, isNegative))
    } catch (e) {
      return this.#report(start, errorText(e))
    }
  }
}
