/** A property that does not hold. */
export interface Violation {
  /** The name of the oracle or the invariant. */
  readonly oracle: string
  readonly message: string
  /** The differences that matter, one per line. */
  readonly details: readonly string[]
}
