import type { BodyLimits } from '../../request/body.ts'
import type { ListLimits } from '../../request/list-limits.ts'
import type { RequestFilter } from '../../request/request-filter.ts'

/** Sets the limits of request bodies and of lists. Undefined means the defaults. */
export function sizeLimits(body: BodyLimits | undefined, list: ListLimits | undefined): RequestFilter {
  return (context, next) => {
    if (body) context.bodyLimits = body
    if (list) context.listLimits = list
    return next()
  }
}
