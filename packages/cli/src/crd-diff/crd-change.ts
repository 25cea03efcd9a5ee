/**
 * How bad a change of a definition is: `breaking` makes objects or clients fail that worked, `warning` may change what they see, and
 * `safe` lets all go on.
 */
export type Severity = 'breaking' | 'warning' | 'safe'

/** One change of a definition. */
export interface CrdChange {
  readonly severity: Severity
  /** The name of the definition. */
  readonly crd: string
  /** The version that it is about; not there for what all versions share. */
  readonly version?: string
  /** The field that it is about: `spec.replicas`, `spec.ports[]`, `spec.labels{}`; empty for the whole object. */
  readonly path: string
  readonly message: string
}

/** Told each change: how bad, where and what. */
export type Report = (severity: Severity, path: string, message: string) => void
