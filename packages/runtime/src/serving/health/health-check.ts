/** Says whether something is in order: throws, or rejects, with an error for people when it is not. */
export interface HealthCheck {
  /** Part of the path of its own: `/readyz/<name>`. */
  readonly name: string
  readonly check: (signal: AbortSignal) => void | Promise<void>
}

/** The checks behind `/healthz` and `/readyz`. Checks may come and go while they are served. */
export interface HealthChecks {
  /** Has `/healthz` ask it: a failure means that the process should be restarted. */
  addLiveness(check: HealthCheck): Disposable
  /** Has `/readyz` ask it: a failure means that the process should not be sent work. */
  addReadiness(check: HealthCheck): Disposable
}
