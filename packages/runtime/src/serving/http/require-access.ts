import { type Clock, type Logger, type Random, retry, withDeadline } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { ExpiringMap } from './expiring-map.ts'
import { type HttpHandler, type HttpRequest, textResponse } from './http-handler.ts'

/** Options of {@link requireAccess}. */
export interface RequireAccessOptions {
  /** Used for token and access reviews. Needs the verb `create` on tokenreviews and subjectaccessreviews. */
  readonly api: Pick<ApiClient, 'rest'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

interface User {
  readonly username?: string | undefined
  readonly uid?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

interface Review<Status> {
  readonly status?: Status | undefined
}

// The values of controller-runtime's filter.
const tokenMillis = 60_000
const allowMillis = 5 * 60_000
const denyMillis = 30_000
const backoff = { duration: '500ms', factor: 1.5, jitter: 0.2, steps: 5 } as const
const maxEntries = 1000

/**
 * Requires a bearer token whose user may perform the request's verb on its path, such as `get` on `/metrics`. The API
 * server authenticates the token and authorizes the user. Its answers are cached: users for 1 minute, allowed requests
 * for 5 minutes, denied ones for 30 seconds.
 */
export function requireAccess(handler: HttpHandler, options: RequireAccessOptions): HttpHandler {
  const { api, clock, random, log } = options
  const users = new ExpiringMap<User>(clock, maxEntries)
  const decisions = new ExpiringMap<boolean>(clock, maxEntries)

  const review = async <Status>(group: string, resource: string, kind: string, spec: object, signal: AbortSignal) => {
    const body = JSON.stringify({ apiVersion: `${group}/v1`, kind, spec })
    const request = { method: 'POST', path: `/apis/${group}/v1/${resource}`, body }
    // Retries are for an overloaded API server and end with the deadline. The request's signal aborts the review as
    // well.
    const ask = (limited: AbortSignal): Promise<unknown> =>
      retry(() => api.rest.json({ ...request, signal: limited }), { clock, random, backoff, signal: limited })
    return (await withDeadline(clock, '10s', `POST ${request.path}`, ask, { signal })) as Review<Status>
  }

  const authenticate = async (token: string, signal: AbortSignal): Promise<User | undefined> => {
    // The cache is keyed by a hash, so that no token is kept in memory.
    const key = process.getBuiltinModule('node:crypto').createHash('sha256').update(token).digest('base64')
    const known = users.get(key)
    if (known !== undefined) return known
    type Status = { readonly authenticated?: boolean | undefined; readonly user?: User | undefined }
    const { status } = await review<Status>('authentication.k8s.io', 'tokenreviews', 'TokenReview', { token }, signal)
    if (!status?.authenticated || status.user === undefined) return undefined
    users.set(key, status.user, tokenMillis)
    return status.user
  }

  const authorize = async (user: User, { method, path, signal }: HttpRequest): Promise<boolean> => {
    const { username, uid, groups, extra } = user
    const spec = { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: method.toLowerCase() } }
    const key = JSON.stringify(spec)
    const known = decisions.get(key)
    if (known !== undefined) return known
    const group = 'authorization.k8s.io'
    type Status = { readonly allowed?: boolean | undefined }
    const { status } = await review<Status>(group, 'subjectaccessreviews', 'SubjectAccessReview', spec, signal)
    const allowed = status?.allowed === true
    decisions.set(key, allowed, allowed ? allowMillis : denyMillis)
    return allowed
  }

  return async (request) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1]
    if (token === undefined) return textResponse(401, 'Unauthorized\n')
    let user: User | undefined
    try {
      user = await authenticate(token, request.signal)
    } catch (error) {
      log.error(error, 'Authentication failed', { path: request.path })
      return textResponse(500, 'Authentication failed\n')
    }
    if (user === undefined) return textResponse(401, 'Unauthorized\n')
    const name = user.username ?? ''
    try {
      if (!(await authorize(user, request))) return textResponse(403, `Authorization denied for user ${name}\n`)
    } catch (error) {
      log.error(error, `Authorization for user ${name} failed`, { path: request.path })
      return textResponse(500, `Authorization for user ${name} failed\n`)
    }
    return handler(request)
  }
}
