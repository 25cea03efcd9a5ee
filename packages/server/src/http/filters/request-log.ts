import type { Clock, Logger } from '@kubewright/base'
import { settle } from '../../request/awaitable.ts'
import type { RequestFilter } from '../../request/request-filter.ts'

/** Requests that take longer than this many milliseconds are logged as slow. */
const slow = 1000

/** Logs every request at debug level; slow requests have a message of their own. */
export function requestLog(clock: Clock, log: Logger): RequestFilter {
  const debug = log.withName('http').v(1)
  return (context, next) => {
    if (!debug.enabled()) return next()
    const begin = clock.monotonic()
    const note = (status: number): void => {
      const took = clock.monotonic() - begin
      const { request, user, auditId } = context
      debug.info(took > slow ? 'Slow request' : 'Request', {
        method: request.method,
        path: request.path,
        user: user.name,
        status,
        ms: Math.round(took),
        auditId,
      })
    }
    return settle(
      next,
      (response) => {
        note(response.status)
        return response
      },
      (error) => {
        note(0)
        throw error
      },
    )
  }
}
