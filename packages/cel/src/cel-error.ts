/**
 * The failure of an evaluation, with the message that cel-go prints for it. `&&`, `||` and the comprehension macros may absorb it;
 * everything else lets it through.
 */
export class CelError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CelError'
  }
}

/** Thrown when an evaluation used up its cost limit; no operator absorbs it. */
export class CelCostError extends CelError {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CelCostError'
  }
}

/** One finding of the parser or the checker; `line` is 1-based, `column` 0-based, counted in code points. */
export interface CelIssue {
  readonly line: number
  readonly column: number
  readonly message: string
}

/**
 * Thrown for an expression that does not parse or type-check. The message is cel-go's: one `ERROR: <input>:line:column: text` with
 * source line and caret for each issue.
 */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[]

  constructor(message: string, issues: readonly CelIssue[]) {
    super(message)
    this.name = 'CelCompileError'
    this.issues = issues
  }
}

/**
 * Thrown for an expression that type-checks but whose constants can never be evaluated, such as `int('x')`. Kubernetes reports these
 * as `program instantiation failed`.
 */
export class CelPlanError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CelPlanError'
  }
}

/** The error for an operation on values that have no such operation. */
export function noSuchOverload(): CelError {
  return new CelError('no such overload')
}
