import type { ApiResponse } from '@kubewright/api'
import { defineBudget } from '@kubewright/base'
import type { RequestFilter } from '../../request/request-filter.ts'
import { respondText } from '../../request/respond.ts'
import { mastersGroup, unauthenticatedGroup } from '../../request/user-info.ts'
import { isLongRunning, isMutating } from './request-class.ts'
import { releaseAfter } from './response-end.ts'

const inFlight = {
  group: 'server',
  answer: '429',
  kubernetes: 'yes, without the wait for the client',
} as const
const defaultReadOnly = defineBudget(400, {
  ...inFlight,
  what: 'read-only requests in progress, except of members of system:masters, until the client has taken the response',
  option: '`limits.inFlight.readOnly`, `up --max-requests-inflight`',
})
const defaultMutating = defineBudget(200, {
  ...inFlight,
  what: 'mutating requests in progress, except of members of system:masters, until the client has taken the response',
  option: '`limits.inFlight.mutating`, `up --max-mutating-requests-inflight`',
})

/** Limits of concurrent requests. */
export interface InFlightLimits {
  /** @default 400 */
  readonly readOnly?: number | undefined
  /** @default 200 */
  readonly mutating?: number | undefined
}

/** The share of all slots that one user can hold, and that all clients without credentials can hold together. */
const userShare = 3 / 4
const anonymousShare = 1 / 4

/**
 * Rejects requests with 429 while too many are in flight, in total or of one user. A client that sends its body slowly or does not read its
 * response holds a slot for up to half a minute or a minute, so a single user must not be able to hold them all. Requests of system:masters
 * and long-running requests are neither limited nor counted, so that administrators can inspect an overloaded server.
 */
export function maxInFlight({
  readOnly = defaultReadOnly,
  mutating = defaultMutating,
}: InFlightLimits = {}): RequestFilter {
  const limits = { readOnly, mutating }
  const room = { ...limits }
  /** The slots of each user. Only users with requests in flight have an entry. */
  const held = { readOnly: new Map<string, number>(), mutating: new Map<string, number>() }
  return ({ info, user, request }, next) => {
    if (isLongRunning(info) || user.groups.includes(mastersGroup)) return next()
    const kind = isMutating(request.method) ? 'mutating' : 'readOnly'
    const own = held[kind]
    const count = own.get(user.name) ?? 0
    const share = user.groups.includes(unauthenticatedGroup) ? anonymousShare : userShare
    if (room[kind] <= 0 || count >= Math.ceil(limits[kind] * share)) return tooMany()
    room[kind]--
    own.set(user.name, count + 1)
    const release = (): void => {
      room[kind]++
      const left = own.get(user.name)! - 1
      if (left > 0) own.set(user.name, left)
      else own.delete(user.name)
    }
    // A response that is not read keeps its memory, so it keeps its slot as well.
    return releaseAfter(request, next, release)
  }
}

/** The response to a client that exceeds a limit. */
export function tooMany(): ApiResponse {
  const response = respondText(429, 'Too many requests, please try again later.\n')
  return { ...response, headers: { ...response.headers, 'retry-after': '1', 'x-content-type-options': 'nosniff' } }
}
