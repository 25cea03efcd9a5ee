import { CaughtError } from '@kubewright/base'
import { HealthResults } from './health-results.ts'

/** One check: rejects with the reason when it fails. */
export type HealthCheck = (signal: AbortSignal) => Promise<void> | void

/** Something that an administrator should know although the server works: how many problems there are, and the details of each. */
export type HealthNotice = () => readonly string[]

/** The endpoints of health checks. /healthz is the deprecated name of /livez. */
export type HealthEndpoint = 'healthz' | 'livez' | 'readyz'

const everywhere: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz']

/** The checks of /healthz, /livez and /readyz, in the order in which responses list them. */
export class HealthChecks {
  /** The results of the checks that the endpoints have run. */
  readonly results: HealthResults = new HealthResults()
  readonly #checks: { name: string; check: HealthCheck; endpoints: readonly HealthEndpoint[] }[] = []

  readonly #notices: { name: string; notice: HealthNotice }[] = []

  /** Adds a notice, which never fails an endpoint. /readyz?verbose shows it, and /readyz/NAME has the details, while there are any. */
  addNotice(name: string, notice: HealthNotice): void {
    this.#notices.push({ name, notice })
  }

  /** The notices of an endpoint that have details. */
  noticesOf(endpoint: HealthEndpoint): readonly { readonly name: string; readonly details: readonly string[] }[] {
    if (endpoint !== 'readyz') return []
    return this.#notices
      .map(({ name, notice }) => ({ name, details: notice() }))
      .filter(({ details }) => details.length > 0)
  }

  /** Adds a check, or replaces the check of that name. */
  add(name: string, check: HealthCheck, endpoints: readonly HealthEndpoint[] = everywhere): void {
    const entry = { name, check, endpoints }
    const at = this.#checks.findIndex((known) => known.name === name)
    if (at < 0) this.#checks.push(entry)
    else this.#checks[at] = entry
  }

  /** Adds a check that fails until the returned function is called, for work that must finish before clients rely on the server. */
  addGate(name: string, endpoints: readonly HealthEndpoint[] = everywhere): () => void {
    let done = false
    this.add(
      name,
      () => {
        if (!done) throw new CaughtError('not finished')
      },
      endpoints,
    )
    return () => {
      done = true
    }
  }

  of(endpoint: HealthEndpoint): readonly { readonly name: string; readonly check: HealthCheck }[] {
    return this.#checks.filter(({ endpoints }) => endpoints.includes(endpoint))
  }

  /** The paths of all endpoints and checks. */
  paths(): string[] {
    return everywhere.flatMap((endpoint) => [
      `/${endpoint}`,
      ...this.of(endpoint).map(({ name }) => `/${endpoint}/${name}`),
    ])
  }
}
