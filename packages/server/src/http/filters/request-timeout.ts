import { newBadRequest, newTimeoutError } from '@kubewright/api'
import { type Clock, nanosToMillis, parseDuration } from '@kubewright/base'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestFilter } from '../../request/request-filter.ts'
import { isLongRunning } from './request-class.ts'

/** What every request gets unless it asks for less. */
const defaultTimeout = 60_000

/** Answers with a timeout when a request takes too long; the work goes on, and what it gives is dropped. */
export function requestTimeout(clock: Clock, limit: number = defaultTimeout): RequestFilter {
  return async (context, next) => {
    if (isLongRunning(context.info)) return next()
    const timeout = Math.min(askedTimeout(context) || limit, limit)
    return new Promise((resolve, reject) => {
      const late = (): void => reject(newTimeoutError('request did not complete within the allotted timeout', 0))
      const timer = clock.setTimer(timeout, late, 'request timeout')
      next().then(
        (response) => {
          timer.cancel()
          resolve(response)
        },
        (error: unknown) => {
          timer.cancel()
          reject(error)
        },
      )
    })
  }
}

/** The milliseconds of the parameter `timeout`; zero when there is none. */
function askedTimeout({ request }: RequestContext): number {
  const text = request.query.get('timeout')
  if (text === null || text === '') return 0
  try {
    return nanosToMillis(parseDuration(text))
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}
