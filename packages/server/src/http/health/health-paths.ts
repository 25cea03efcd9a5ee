import type { ApiResponse } from '@kubewright/api'
import { errorText, expositionTypes, goQuote, type Logger } from '@kubewright/base'
import type { PathHandler } from '../../request/path-handler.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { respondText } from '../../request/respond.ts'
import type { HealthCheck, HealthChecks, HealthEndpoint } from './health-checks.ts'

const endpoints: ReadonlySet<string> = new Set<HealthEndpoint>(['healthz', 'livez', 'readyz'])

/** Serves the health endpoints and each of their checks for every HTTP method, as apiserver/pkg/server/healthz does, and /metrics/slis. */
export function healthPaths(checks: HealthChecks, log: Logger): PathHandler {
  const serveIndicators = async (context: RequestContext): Promise<ApiResponse> => {
    if (checks.results.isEmpty) await runAll(checks, context)
    return respondText(200, checks.results.render(), expositionTypes.text)
  }
  const serveHealth = async (
    context: RequestContext,
    endpoint: string,
    slash: number,
  ): Promise<ApiResponse | undefined> => {
    const { path } = context.info
    const known = checks.of(endpoint as HealthEndpoint)
    const notices = checks.noticesOf(endpoint as HealthEndpoint)
    if (slash < 0) return all(endpoint as HealthEndpoint, checks, { known, notices }, context, log)
    const notice = notices.find(({ name }) => name === path.slice(slash + 1))
    if (notice) return ok(noticeText(notice.details))
    const single = known.find(({ name }) => name === path.slice(slash + 1))
    if (!single) return undefined
    const problem = await problemOf(single.check, context)
    checks.results.record(endpoint as HealthEndpoint, single.name, problem === undefined)
    return problem === undefined ? ok('ok') : failed(`internal server error: ${problem}\n`)
  }
  return (context) => {
    const { path } = context.info
    if (path === '/metrics/slis' && context.request.method === 'GET') return serveIndicators(context)
    const slash = path.indexOf('/', 1)
    const endpoint = path.slice(1, slash < 0 ? undefined : slash)
    return endpoints.has(endpoint) ? serveHealth(context, endpoint, slash) : undefined
  }
}

/** Runs the checks of /readyz, so that the indicators of a server that nothing has probed yet are not empty. */
async function runAll(checks: HealthChecks, context: RequestContext): Promise<void> {
  for (const { name, check } of checks.of('readyz')) {
    checks.results.record('readyz', name, (await problemOf(check, context)) === undefined)
  }
}

async function all(
  endpoint: HealthEndpoint,
  { results }: HealthChecks,
  {
    known,
    notices,
  }: { readonly known: ReturnType<HealthChecks['of']>; readonly notices: ReturnType<HealthChecks['noticesOf']> },
  context: RequestContext,
  log: Logger,
): Promise<ApiResponse> {
  const { query } = context.request
  const excluded = new Set(query.getAll('exclude'))
  const unknown = new Set(excluded)
  const lines: string[] = []
  const failures: Record<string, string> = {}
  for (const { name, check } of known) {
    if (excluded.has(name)) {
      unknown.delete(name)
      lines.push(`[+]${name} excluded: ok\n`)
      continue
    }
    const problem = await problemOf(check, context)
    results.record(endpoint, name, problem === undefined)
    // Endpoints are open to anonymous users, so the reason is only logged here. The path of the check itself shows it.
    if (problem !== undefined) failures[name] = problem
    lines.push(problem === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`)
  }
  // As for failures, the details are not for anonymous users.
  for (const { name, details } of notices)
    lines.push(`[+]${name} ok: ${details.length} found, see /${endpoint}/${name}\n`)
  if (unknown.size > 0) {
    const names = [...unknown].sort().map(goQuote).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`)
  }
  if (Object.keys(failures).length > 0) {
    log.info(`${endpoint} check failed`, failures)
    return failed(`${lines.join('')}${endpoint} check failed\n`)
  }
  return ok(query.has('verbose') ? `${lines.join('')}${endpoint} check passed\n` : 'ok')
}

/** The number of details that the path of a notice shows. */
const shownDetails = 20

function noticeText(details: readonly string[]): string {
  const shown = details.slice(0, shownDetails)
  const more = details.length > shown.length ? [`and ${details.length - shown.length} more`] : []
  return [...shown, ...more].map((line) => `${line}\n`).join('')
}

async function problemOf(check: HealthCheck, { request }: RequestContext): Promise<string | undefined> {
  try {
    await check(request.signal)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

function ok(text: string): ApiResponse {
  const response = respondText(200, text)
  return { ...response, headers: { ...response.headers, 'x-content-type-options': 'nosniff' } }
}

function failed(text: string): ApiResponse {
  const response = respondText(500, text)
  return { ...response, headers: { ...response.headers, 'x-content-type-options': 'nosniff' } }
}
