import { CaughtError, defineBudget } from '@kubewright/base'
import type { Expr } from './ast.ts'

/** cel-go's limit of nested expressions. */
export const MAX_DEPTH: number = defineBudget(250, {
  group: 'server',
  what: 'nested CEL expressions',
  answer: 'the expression is invalid',
  kubernetes: 'yes',
})

/** The message of an expression with too many nested expressions. */
export const recursionMessage: string = `expression recursion limit exceeded: ${MAX_DEPTH}`

/** Thrown for an expression that is nested too deeply. Its message is the message of the issue. */
export class DepthExceeded extends CaughtError {}

/** Enforces cel-go's two limits: on nested expressions while parsing, and on the depth of the resulting tree. */
export class DepthTracker {
  /** The number of expressions that enclose the current position. */
  #nesting = 0
  /** The depth of each node, by id. Nodes without an entry, such as identifiers, have depth 0. */
  readonly #depths: number[] = []

  /** Enters a nested expression. */
  enter(): void {
    if (++this.#nesting > MAX_DEPTH) throw new DepthExceeded(recursionMessage)
  }

  leave(): void {
    this.#nesting--
  }

  /**
   * Records that a node is one level deeper than its deepest child, and returns it. As in cel-go's visitor, operators,
   * selections and member calls add a level.
   */
  deeper(e: Expr, ...children: readonly Expr[]): Expr {
    const depth = 1 + this.#deepest(children)
    if (depth > MAX_DEPTH) throw new DepthExceeded('max recursion depth exceeded')
    this.#depths[e.id] = depth
    return e
  }

  /** Records that a node is as deep as its deepest child, and returns it. */
  asDeep(e: Expr, children: readonly Expr[]): Expr {
    this.#depths[e.id] = this.#deepest(children)
    return e
  }

  #deepest(children: readonly Expr[]): number {
    let deepest = 0
    for (const child of children) deepest = Math.max(deepest, this.#depths[child.id] ?? 0)
    return deepest
  }
}
