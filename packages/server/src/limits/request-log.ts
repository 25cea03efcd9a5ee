import type { Clock, Logger } from '@kubewright/base'
import type { RequestFilter } from '../api-server.ts'

/** Requests that take longer are logged even when nobody wants to see all of them. */
const slow = 1000

/** Logs every request at debug level, and slow ones always. */
export function requestLog(clock: Clock, log: Logger): RequestFilter {
  const debug = log.withName('http').v(1)
  return async (context, next) => {
    const begin = clock.monotonic()
    let status = 0
    try {
      const response = await next()
      status = response.status
      return response
    } finally {
      const took = clock.monotonic() - begin
      if (took > slow || debug.enabled()) {
        const { request, user, auditId } = context
        const values = {
          method: request.method,
          path: request.path,
          user: user.name,
          status,
          ms: Math.round(took),
          auditId,
        }
        if (took > slow) log.info('Slow request', values)
        else debug.info('Request', values)
      }
    }
  }
}
