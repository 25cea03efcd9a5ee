/**
 * The severity of a change: `breaking` makes valid objects or working clients fail, `warning` may change the values that clients see,
 * `safe` affects neither.
 */
export type Severity = 'breaking' | 'warning' | 'safe'

/** One change of a CRD. */
export interface CrdChange {
  readonly severity: Severity
  /** The name of the CRD. */
  readonly crd: string
  /** The changed version; absent for a change that concerns all versions. */
  readonly version?: string | undefined
  /** The changed field: `spec.replicas`, `spec.ports[]`, `spec.labels{}`; empty for the whole object. */
  readonly path: string
  readonly message: string
}

/** Receives each change. */
export type Report = (severity: Severity, path: string, message: string) => void
