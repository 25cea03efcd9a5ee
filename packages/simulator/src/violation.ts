/** A property that does not hold. */
export interface Violation {
  /** The name of the oracle or the invariant. */
  readonly oracle: string
  readonly message: string
  /** The differences that matter, one per line. */
  readonly details: readonly string[]
}

/** The oracles that every simulation checks. */
export const oracleNames = [
  'settles',
  'quiet',
  'end state',
  'deletion',
  'orphans',
  'status',
  'leader',
  'errors',
  'hot loop',
  'crash loop',
  'rights',
  'own webhooks',
  'admission',
  'others',
  'data',
  'conversion',
] as const

/** The name of an oracle. */
export type OracleName = (typeof oracleNames)[number]
