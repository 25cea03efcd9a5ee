/** What docs/reference/limits.md says about a budget. */
export interface BudgetText {
  readonly group: 'server' | 'other' | 'controllers'
  /** What is counted. */
  readonly what: string
  /** @default 'count' */
  readonly unit?: 'bytes' | 'millis' | 'count' | undefined
  /** The text of the default, where it needs more than the number, which replaces `{}`. @default '{}' */
  readonly shown?: string | undefined
  /** The option that changes it. @default none */
  readonly option?: string | undefined
  /** What happens when it is exceeded. */
  readonly answer: string
  /** Whether kube-apiserver has the same limit, for budgets of the server. */
  readonly kubernetes?: string | undefined
}

/** A limit of what a client, an object or a peer can make a process do or keep. */
export interface Budget extends BudgetText {
  readonly value: number | string
}

const budgets: Budget[] = []

/**
 * Defines a budget beside the code that charges it, and returns its default, which that code must use. The reference page of limits is
 * written from all definitions, so it cannot differ from the code.
 */
export function defineBudget<const T extends number | string>(value: T, text: BudgetText): T {
  budgets.push({ value, ...text })
  return value
}

/** The budgets of the modules that were loaded. */
export function definedBudgets(): readonly Budget[] {
  return budgets
}
