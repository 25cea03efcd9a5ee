/** The result of one check. */
export interface Finding {
  /** The name of the check. */
  readonly check: string
  /** `failed` prevents the operator from working, `warning` may do so, `skipped` was not checked. */
  readonly level: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly message: string
  /** The action that solves the problem. */
  readonly fix?: string | undefined
}
