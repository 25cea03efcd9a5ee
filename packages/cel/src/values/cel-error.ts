import { defineBudget, KubewrightError } from '@kubewright/base'

/**
 * A failed evaluation, with cel-go's message. `&&`, `||` and the comprehension macros may absorb it; everything else
 * propagates it.
 */
export class CelError extends KubewrightError {
  constructor(message: string) {
    super('KW_CEL_EVALUATION', message)
    this.name = 'CelError'
  }
}

/** Thrown when an evaluation exceeds its cost limit. No operator absorbs it. */
export class CelCostError extends CelError {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CelCostError'
  }
}

/**
 * The longest text that a function creates and the longest list that `+` creates. Reading either of them in an expression would exceed the
 * cost limit of Kubernetes, 1,000,000.
 */
const MAX_TEXT_LENGTH = defineBudget(10_000_000, {
  group: 'server',
  what: 'characters of a text that `replace`, `join` or `format` creates in CEL',
  answer: 'the expression fails with the cost limit',
  kubernetes: 'no limit',
})
const MAX_LIST_SIZE = defineBudget(1_000_000, {
  group: 'server',
  what: 'elements of a list that `+` creates in CEL',
  shown: '{}; lists of more than 100 elements cost their size',
  answer: 'the expression fails with the cost limit',
  kubernetes: 'no limit; a concatenation costs 1',
})

/** Refuses to create a text before it takes memory: Kubernetes charges some functions for their operands, not for the result. */
export function checkTextLength(length: number): void {
  if (length > MAX_TEXT_LENGTH) throw new CelCostError()
}

/** Refuses to create a list before it takes memory: Kubernetes charges one unit for a concatenation. */
export function checkListSize(size: number): void {
  if (size > MAX_LIST_SIZE) throw new CelCostError()
}

/** One error of the parser or the type checker. `line` is 1-based, `column` is 0-based and counts code points. */
export interface CelIssue {
  readonly line: number
  readonly column: number
  readonly message: string
}

/**
 * Thrown for an expression that does not parse or type-check. The message is cel-go's: for each issue, `ERROR:
 * <input>:line:column: text` with the source line and a caret.
 */
export class CelCompileError extends KubewrightError {
  readonly issues: readonly CelIssue[]

  constructor(message: string, issues: readonly CelIssue[]) {
    super('KW_CEL_COMPILE', message)
    this.name = 'CelCompileError'
    this.issues = issues
  }
}

/**
 * Thrown for an expression that type-checks but contains a constant that can never be evaluated, such as `int('x')`.
 * Kubernetes reports it as `program instantiation failed`.
 */
export class CelPlanError extends KubewrightError {
  constructor(message: string) {
    super('KW_CEL_COMPILE', message)
    this.name = 'CelPlanError'
  }
}

/** Returns the error for an operation that the given values do not support. */
export function noSuchOverload(): CelError {
  return new CelError('no such overload')
}
