/** What one check found. */
export interface Finding {
  /** What was checked, in a word or two. */
  readonly check: string
  /** `failed` keeps something from working, `warning` may, `skipped` was not checked. */
  readonly level: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly message: string
  /** What to do about it. */
  readonly cure?: string
}
