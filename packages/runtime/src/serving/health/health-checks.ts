import { type Clock, type Duration, errorText, withDeadline } from '@kubewright/base'
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  isLoopback,
  textResponse,
} from '../http/http-handler.ts'
import type { HealthCheck, HealthChecks } from './health-check.ts'

/** Options of {@link createHealthChecks}. */
export interface HealthChecksOptions {
  readonly clock: Clock
  /** How long a check may take before it counts as failed. @default '10s' */
  readonly timeout?: Duration | undefined
  /** Which requests see the reason of a failure. @default requests from the loopback interface */
  readonly mayKnowReasons?: ((request: HttpRequest) => boolean) | undefined
  /** Called for each failure, with its reason. */
  readonly onFailure?: ((check: string, error: unknown) => void) | undefined
}

/** The result of one check. */
export interface HealthReport {
  readonly name: string
  /** Why the check failed; absent when it passed. */
  readonly reason?: string | undefined
}

/** {@link HealthChecks} with the HTTP handler that serves them. */
export interface ServedHealthChecks extends HealthChecks {
  /** Serves `/healthz`, `/readyz` and a path for each check below them. */
  readonly handler: HttpHandler
  /** Runs all checks of one endpoint, except the excluded ones. */
  report(
    sort: 'healthz' | 'readyz',
    options?: { readonly exclude?: ReadonlySet<string> | undefined },
  ): Promise<HealthReport[]>
}

interface Entry {
  readonly name: string
  readonly check: HealthCheck['check']
}

const ping: Entry = { name: 'ping', check: () => undefined }

/**
 * Creates the checks behind `/healthz` and `/readyz`, each with the check `ping`. As in controller-runtime, the page of
 * a single check shows why it fails, and the summary page withholds the reason. Requests from the loopback interface,
 * such as through `kubectl port-forward`, see it there too.
 */
export function createHealthChecks(options: HealthChecksOptions): ServedHealthChecks {
  const { clock, timeout = '10s', mayKnowReasons = isLoopback, onFailure } = options
  const sorts = { healthz: [ping], readyz: [ping] } satisfies Record<string, Entry[]>

  const add = (sort: keyof typeof sorts, { name, check }: HealthCheck): Disposable => {
    if (name === '' || name.includes('/') || sorts[sort].some((entry) => entry.name === name && entry !== ping)) {
      throw new TypeError(`Cannot add health check "${name}" to /${sort}: its name must be unique and without slashes`)
    }
    const entry: Entry = { name, check }
    // A check with the name of the built-in ping replaces it.
    const others = sorts[sort].filter((known) => known.name !== name)
    sorts[sort] = [...others, entry]
    return { [Symbol.dispose]: () => void remove(sort, entry) }
  }
  const remove = (sort: keyof typeof sorts, entry: Entry): void => {
    const index = sorts[sort].indexOf(entry)
    if (index >= 0) sorts[sort].splice(index, 1)
  }

  const ask = async ({ name, check }: Entry): Promise<HealthReport> => {
    try {
      await withDeadline(clock, timeout, `health check ${name}`, async (signal) => check(signal))
      return { name }
    } catch (error) {
      onFailure?.(name, error)
      return { name, reason: errorText(error) }
    }
  }

  const report: ServedHealthChecks['report'] = (sort, { exclude } = {}) =>
    Promise.all(sorts[sort].filter(({ name }) => !exclude?.has(name)).map(ask))

  const handler: HttpHandler = async (request) => {
    const [sort = '', name, ...rest] = request.path.replace(/^\//, '').split('/')
    if (!isSort(sort) || rest.length > 0) return textResponse(404, '404 page not found\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') return textResponse(405, 'Method Not Allowed\n')
    if (name !== undefined && name !== '') {
      const entry = sorts[sort].find((known) => known.name === name)
      return entry ? single(await ask(entry)) : textResponse(404, '404 page not found\n')
    }
    const exclude = new Set(request.query.getAll('exclude'))
    const isKnown = (excluded: string): boolean => sorts[sort].some((entry) => entry.name === excluded)
    return aggregate(await report(sort, { exclude }), {
      excluded: [...exclude].filter(isKnown),
      unknown: [...exclude].filter((excluded) => !isKnown(excluded)),
      verbose: request.query.has('verbose'),
      open: mayKnowReasons(request),
    })
  }

  return {
    handler,
    report,
    addLiveness: (check) => add('healthz', check),
    addReadiness: (check) => add('readyz', check),
  }
}

const isSort = (text: string): text is 'healthz' | 'readyz' => text === 'healthz' || text === 'readyz'

function single({ reason }: HealthReport): HttpResponse {
  return reason === undefined ? textResponse(200, 'ok') : textResponse(500, `internal server error: ${reason}\n`)
}

interface AggregateFacts {
  readonly excluded: readonly string[]
  readonly unknown: readonly string[]
  readonly verbose: boolean
  readonly open: boolean
}

/** The summary page, in controller-runtime's format: the last line says healthz for both endpoints. */
function aggregate(reports: readonly HealthReport[], facts: AggregateFacts): HttpResponse {
  const { excluded, unknown, verbose, open } = facts
  const failed = reports.some(({ reason }) => reason !== undefined)
  if (!failed && !verbose) return textResponse(200, 'ok')
  const parts: [name: string, line: string][] = [
    ...excluded.map((name): [string, string] => [name, `[+]${name} excluded: ok`]),
    ...reports.map(({ name, reason }): [string, string] => {
      return [name, reason === undefined ? `[+]${name} ok` : `[-]${name} failed: ${open ? reason : 'reason withheld'}`]
    }),
  ]
  const lines = parts.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  lines.push(`healthz check ${failed ? 'failed' : 'passed'}`)
  return textResponse(failed ? 500 : 200, `${lines.join('\n')}\n`)
}
