import type { ApiResponse } from '@kubewright/api'
import { newBadRequest } from '@kubewright/api'
import { type Clock, defineBudget, nanosToMillis, parseDuration } from '@kubewright/base'
import { Deadline, timedOut } from '../../request/deadline.ts'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestFilter } from '../../request/request-filter.ts'
import { isLongRunning } from './request-class.ts'

/** Milliseconds; requests may ask for less with the parameter `timeout`. */
const defaultTimeout = defineBudget(60_000, {
  group: 'server',
  what: 'time of a request until its response begins; a write checks it before it validates and before it stores',
  unit: 'millis',
  option: 'query parameter `timeout`, up to the default',
  answer: '504, and nothing is stored',
  kubernetes: 'yes',
})

/**
 * Responds with 504 when a request takes too long. The handler keeps running until it next checks the deadline of its context, and its
 * response is dropped.
 */
export function requestTimeout(clock: Clock, limit: number = defaultTimeout): RequestFilter {
  return (context, next) => {
    if (isLongRunning(context.info)) return next()
    const timeout = Math.min(requestedTimeout(context) || limit, limit)
    context.deadline = new Deadline(clock, timeout)
    const response = next()
    // A handler that did not have to wait is subject to the deadline only.
    return response instanceof Promise ? limited(response, timeout, clock) : response
  }
}

function limited(response: Promise<ApiResponse>, timeout: number, clock: Clock): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeout, () => reject(timedOut()), 'request timeout')
    response.then(
      (result) => {
        timer.cancel()
        resolve(result)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error)
      },
    )
  })
}

/** The value of the parameter `timeout` in milliseconds, or zero. */
function requestedTimeout({ request }: RequestContext): number {
  const text = request.query.get('timeout')
  if (text === null || text === '') return 0
  try {
    return nanosToMillis(parseDuration(text))
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}
