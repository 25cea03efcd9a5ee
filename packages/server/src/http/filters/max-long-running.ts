import { defineBudget } from '@kubewright/base'
import type { RequestFilter } from '../../request/request-filter.ts'
import { mastersGroup } from '../../request/user-info.ts'
import { tooMany } from './max-in-flight.ts'
import { isLongRunning } from './request-class.ts'
import { releaseAfter } from './response-end.ts'

/** Watches, and other long-running requests such as exec, of one user at the same time. */
const defaultPerUser = defineBudget(5000, {
  group: 'server',
  what: 'watches and other long-running requests of one user, except members of system:masters',
  option: '`limits.watchesPerUser`, `up --max-watches-per-user`',
  answer: '429',
  kubernetes: 'no limit',
})

/**
 * Rejects long-running requests with 429 while the user has too many. They have no in-flight limit, so a single user could otherwise hold
 * all memory and connections. Requests of system:masters are neither limited nor counted. Anonymous clients are one user.
 */
export function maxLongRunning(perUser: number = defaultPerUser): RequestFilter {
  /** Only users with open requests have an entry. */
  const open = new Map<string, number>()
  return ({ info, user, request }, next) => {
    if (!isLongRunning(info) || user.groups.includes(mastersGroup)) return next()
    const count = open.get(user.name) ?? 0
    if (count >= perUser) return tooMany()
    open.set(user.name, count + 1)
    const release = (): void => {
      const left = open.get(user.name)! - 1
      if (left > 0) open.set(user.name, left)
      else open.delete(user.name)
    }
    return releaseAfter(request, next, release)
  }
}
