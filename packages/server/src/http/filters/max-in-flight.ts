import type { ApiResponse } from '@kubewright/api'
import type { RequestFilter } from '../../request/request-filter.ts'
import { respondText } from '../../request/respond.ts'
import { mastersGroup } from '../../request/user-info.ts'
import { isLongRunning, isMutating } from './request-class.ts'
import { afterResponse } from './response-end.ts'

/** Limits of concurrent requests. */
export interface InFlightLimits {
  /** @default 400 */
  readonly readOnly?: number
  /** @default 200 */
  readonly mutating?: number
}

/**
 * Rejects requests with 429 while too many are in flight. Requests of system:masters and long-running requests are neither limited
 * nor counted, so that administrators can inspect an overloaded server.
 */
export function maxInFlight({ readOnly = 400, mutating = 200 }: InFlightLimits = {}): RequestFilter {
  const room = { readOnly, mutating }
  return async ({ info, user, request }, next) => {
    if (isLongRunning(info) || user.groups.includes(mastersGroup)) return next()
    const kind = isMutating(request.method) ? 'mutating' : 'readOnly'
    if (room[kind] <= 0) return tooMany()
    room[kind]--
    const release = (): void => {
      room[kind]++
    }
    let response: ApiResponse
    try {
      response = await next()
    } catch (error) {
      release()
      throw error
    }
    // A response that is not read keeps its memory, so it keeps its slot as well.
    return afterResponse(request, response, release)
  }
}

/** The response to a client that exceeds a limit. */
export function tooMany(): ApiResponse {
  const response = respondText(429, 'Too many requests, please try again later.\n')
  return { ...response, headers: { ...response.headers, 'retry-after': '1', 'x-content-type-options': 'nosniff' } }
}
