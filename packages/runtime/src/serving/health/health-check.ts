/** A health check: throws, or rejects, when the checked part is unhealthy. The message is shown to people. */
export interface HealthCheck {
  /** The last segment of the check's own path: `/readyz/<name>`. */
  readonly name: string
  readonly check: (signal: AbortSignal) => void | Promise<void>
}

/** The checks behind `/healthz` and `/readyz`. Checks may be added and removed while they are served. */
export interface HealthChecks {
  /** Adds a check to `/healthz`: when it fails, the kubelet restarts the process. */
  addLiveness(check: HealthCheck): Disposable
  /** Adds a check to `/readyz`: when it fails, the pod receives no traffic. */
  addReadiness(check: HealthCheck): Disposable
}
