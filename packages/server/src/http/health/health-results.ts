import { compareUtf8 } from '@kubewright/base'
import type { HealthEndpoint } from './health-checks.ts'

/** The results of one check at one endpoint. */
interface CheckResults {
  readonly name: string
  readonly type: HealthEndpoint
  isHealthy: boolean
  successes: number
  errors: number
}

/** Counts the results of health checks, which /metrics/slis serves as service level indicators (component-base/metrics/prometheus/slis). */
export class HealthResults {
  readonly #results = new Map<string, CheckResults>()

  /** Whether no check has run. */
  get isEmpty(): boolean {
    return this.#results.size === 0
  }

  /** Records the result of a check that an endpoint has run. */
  record(type: HealthEndpoint, name: string, isHealthy: boolean): void {
    const key = `${name} ${type}`
    let entry = this.#results.get(key)
    if (!entry) this.#results.set(key, (entry = { name, type, isHealthy, successes: 0, errors: 0 }))
    entry.isHealthy = isHealthy
    if (isHealthy) entry.successes++
    else entry.errors++
  }

  /** The results in the text format of Prometheus; empty before the first check. */
  render(): string {
    const sorted = [...this.#results.values()].sort(
      (a, b) => compareUtf8(a.name, b.name) || compareUtf8(a.type, b.type),
    )
    if (sorted.length === 0) return ''
    const lines = [
      '# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.',
      '# TYPE kubernetes_healthcheck gauge',
      ...sorted.map(
        ({ name, type, isHealthy }) => `kubernetes_healthcheck{name="${name}",type="${type}"} ${isHealthy ? 1 : 0}`,
      ),
      '# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.',
      '# TYPE kubernetes_healthchecks_total counter',
    ]
    for (const { name, type, successes, errors } of sorted) {
      const counter = (status: string, count: number): string =>
        `kubernetes_healthchecks_total{name="${name}",status="${status}",type="${type}"} ${count}`
      if (errors > 0) lines.push(counter('error', errors))
      if (successes > 0) lines.push(counter('success', successes))
    }
    return `${lines.join('\n')}\n`
  }
}
