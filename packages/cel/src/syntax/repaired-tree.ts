import { errorText } from '@kubewright/base'
import { type Expr, OPERATORS } from './ast.ts'
import { DepthExceeded, MAX_DEPTH } from './depth-tracker.ts'
import { ExprBuilder, MacroError } from './expr-builder.ts'
import type { Token } from './lexer.ts'
import { literalValue } from './literal-value.ts'
import type { CelMacro } from './macro.ts'
import { macroKey } from './macro-key.ts'
import { RESERVED } from './operator-tokens.ts'
import { BEFORE_SOURCE, type SourceIssue } from './source.ts'
import type { RuleName } from './syntax-grammar.ts'

/**
 * A rule of the grammar as it was walked along an expression with syntax errors. Tokens that a repair dropped or skipped are not part of
 * it; tokens that a repair assumed are.
 */
export interface RepairedNode {
  readonly rule: RuleName
  /** The token at which the rule was entered. */
  readonly start: Token
  /** The index of the alternative that was chosen; undefined if the rule ended before its choice. */
  alternative: number | undefined
  readonly children: (RepairedNode | Token)[]
}

/**
 * Returns the issues that a repaired expression has besides its syntax errors: reserved identifiers, invalid literals and macros that
 * cannot be expanded. As in cel-go, the expression is built although it has syntax errors, so that all of its errors are reported at once.
 */
export function issuesOfRepaired(tree: RepairedNode, macros: ReadonlyMap<string, CelMacro>): SourceIssue[] {
  const visitor = new RepairedVisitor(macros)
  try {
    visitor.visit(tree)
  } catch (e) {
    if (!(e instanceof DepthExceeded)) throw e
    visitor.issues.push({ offset: -1, message: e.message })
  }
  return visitor.issues
}

const isNode = (child: RepairedNode | Token | undefined): child is RepairedNode =>
  child !== undefined && 'rule' in child

class RepairedVisitor {
  readonly issues: SourceIssue[] = []
  readonly #macros: ReadonlyMap<string, CelMacro>
  readonly #builder: ExprBuilder = new ExprBuilder()
  #depth = 0

  constructor(macros: ReadonlyMap<string, CelMacro>) {
    this.#macros = macros
  }

  /** Builds the expression of a node. What a repair left incomplete becomes a placeholder. */
  visit(node: RepairedNode | undefined): Expr {
    if (node === undefined) return this.#placeholder(BEFORE_SOURCE)
    const [first] = node.children
    switch (node.rule) {
      case 'expr':
      case 'relation':
      case 'calc':
        return node.children.length > 1 ? this.#nested(() => this.#operands(node)) : this.visit(nodeAt(node, 0))
      case 'conditionalOr':
      case 'conditionalAnd':
        return node.children.length > 1 ? this.#operands(node) : this.visit(nodeAt(node, 0))
      case 'unary':
        return this.#unary(node)
      case 'member':
        return isNode(first) && first.rule === 'primary' ? this.visit(first) : this.#nested(() => this.#member(node))
      case 'primary':
        return this.#primary(node)
      case 'literal':
        return this.#literal(node)
      default:
        return this.visit(node.children.find(isNode))
    }
  }

  /** An operator has no errors of its own, so only its operands are built. */
  #operands(node: RepairedNode): Expr {
    const args = node.children.filter(isNode).map((child) => this.visit(child))
    return this.#builder.call(this.#builder.id(operatorOf(node).start), OPERATORS.and, args)
  }

  #unary({ alternative, children, start }: RepairedNode): Expr {
    if (alternative === undefined) return this.#placeholder(start.start)
    const operand = this.visit(children.findLast(isNode))
    const operators = children.filter((child): child is Token => !isNode(child))
    // Pairs of operators cancel out.
    if (operators.length % 2 === 0) return operand
    return this.#builder.call(this.#builder.id(operators[0]!.start), OPERATORS.not, [operand])
  }

  #nested(build: () => Expr): Expr {
    if (++this.#depth > MAX_DEPTH) throw new DepthExceeded('max recursion depth exceeded')
    const built = build()
    this.#depth--
    return built
  }

  #member({ start, alternative, children }: RepairedNode): Expr {
    const [operand, op, ...rest] = children as [RepairedNode, Token, ...(RepairedNode | Token)[]]
    const target = this.visit(operand)
    switch (alternative) {
      case 0: {
        const ident = rest.find(isNode)
        if (ident === undefined) return this.#placeholder(start.start)
        const field = this.#identifier(ident)
        return rest.length > 1
          ? this.#builder.call(this.#builder.id(op.start), OPERATORS.optSelect, [target])
          : { kind: 'select', id: this.#builder.id(op.start), operand: target, field, testOnly: false }
      }
      case 1: {
        const [name, open, list] = rest as [Token?, Token?, (RepairedNode | Token)?]
        if (name === undefined) return this.#placeholder(start.start)
        return this.#callOrMacro(name.text, open, this.#expressions(list), target)
      }
      default: {
        const index = this.visit(rest.find(isNode))
        return this.#builder.call(this.#builder.id(op.start), OPERATORS.index, [target, index])
      }
    }
  }

  /** The name of an identifier after a dot; escaped ones are not supported. */
  #identifier(node: RepairedNode): string {
    const [token] = node.children as Token[]
    if (token === undefined) this.#report(node.start.start, 'unsupported ident kind')
    else if (node.alternative === 1) this.#report(node.start.start, "unsupported syntax: '`'")
    return token?.text ?? ''
  }

  #primary(node: RepairedNode): Expr {
    const { alternative, children, start } = node
    switch (alternative) {
      case undefined:
        return this.#placeholder(BEFORE_SOURCE)
      case 0:
      case 1: {
        const name = children.find((child): child is Token => !isNode(child) && child.kind === 'IDENTIFIER')
        if (name === undefined) return this.#placeholder(start.start)
        if (RESERVED.has(name.text)) return this.#report(start.start, `reserved identifier: ${name.text}`)
        const text = children[0] === name ? name.text : `.${name.text}`
        if (alternative === 0) return { kind: 'ident', id: this.#builder.id(name.start), name: text }
        const [open, list] = children.slice(children.indexOf(name) + 1) as [Token?, (RepairedNode | Token)?]
        return this.#callOrMacro(text, open, this.#expressions(list))
      }
      case 2:
      case 6:
        return this.visit(children.find(isNode))
      default: {
        this.#entries(children.find(isNode))
        const open = children.find((child): child is Token => !isNode(child) && /^[[{]$/.test(child.kind))
        return this.#placeholder(open?.start ?? start.start)
      }
    }
  }

  #expressions(list: RepairedNode | Token | undefined): Expr[] {
    return isNode(list) ? list.children.filter(isNode).map((child) => this.visit(child)) : []
  }

  /** Builds the elements of a list, map or object literal as far as they are complete. */
  #entries(list: RepairedNode | undefined): void {
    if (list === undefined) return
    const nodes = list.children.filter(isNode)
    if (list.rule === 'listInit') {
      for (const element of nodes) this.visit(element)
      return
    }
    const colons = list.children.filter((child) => !isNode(child) && child.kind === ':').length
    for (let i = 0; i < nodes.length; i += 2) {
      const [key, value] = nodes.slice(i, i + 2)
      if (key === undefined || value === undefined || i / 2 >= colons) return
      if (key.rule === 'optExpr') this.visit(key)
      else {
        const ident = key.children.find(isNode)
        const isPlain = ident?.children.length === 1 && ident.alternative === 0
        if (!isPlain) {
          const isEscaped = ident?.children.length === 1
          this.#report(list.start.start, isEscaped ? "unsupported syntax: '`'" : 'unsupported ident kind')
          continue
        }
      }
      this.visit(value)
    }
  }

  #literal({ alternative, children, start }: RepairedNode): Expr {
    const token = children.at(-1) as Token | undefined
    if (alternative === undefined || token === undefined) return this.#placeholder(BEFORE_SOURCE)
    try {
      return this.#builder.literal(start.start, literalValue(token, children.length > 1))
    } catch (e) {
      return this.#report(start.start, errorText(e))
    }
  }

  #callOrMacro(fn: string, open: Token | undefined, args: readonly Expr[], target?: Expr): Expr {
    const id = this.#builder.id(open?.start ?? -1)
    const macro = this.#macros.get(macroKey(fn, args.length, target !== undefined))
    try {
      const expanded = macro?.expand(this.#builder.macroFactory(this.#builder.offsetOf(id)), target, args)
      if (expanded !== undefined) return expanded
    } catch (e) {
      if (!(e instanceof MacroError)) throw e
      return this.#report(e.offset, e.message)
    }
    return this.#builder.call(id, fn, args, target)
  }

  #report(offset: number, message: string): Expr {
    this.issues.push({ offset, message })
    return this.#placeholder(offset)
  }

  #placeholder(offset: number): Expr {
    return this.#builder.literal(offset, null)
  }
}

function nodeAt(node: RepairedNode, index: number): RepairedNode | undefined {
  const child = node.children[index]
  return isNode(child) ? child : undefined
}

/** The operator at the root of the tree: a chain of logical operators is balanced, so its root is in the middle. */
function operatorOf({ rule, children, start }: RepairedNode): Token {
  const operators = children.filter((child): child is Token => !isNode(child))
  return operators[rule.startsWith('conditional') ? operators.length >> 1 : 0] ?? start
}
