import { isGone, isResourceExpired, type KubeObject } from '@kubewright/api'
import { type Clock, type Duration, withDeadline } from '@kubewright/base'
import type { Item } from '../store/item.ts'
import type { ListPage, ListWatch } from './list-watch.ts'

/** What {@link listAll} needs to know. */
export interface ListAllOptions<T> {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly resourceVersion: string
  /** Size of the pages; without it the list is asked for in one piece. */
  readonly limit: number | undefined
  /** How long one page may take. */
  readonly deadline: Duration
  /** What is listed, for the message of the deadline. */
  readonly what: string
  /** Called for each try to get the whole list. What it gives is called for each object as its page arrives; the result is listed. */
  readonly receiver: () => (item: Item<T>) => Item<T>
}

/**
 * Lists all pages. When the continuation expires on the way, the list is asked for once more in one piece, so that what is returned
 * is always one consistent state. `paged` says whether the server made use of pages.
 */
export async function listAll<T extends KubeObject>(
  source: ListWatch<T>,
  options: ListAllOptions<T>,
): Promise<{ readonly items: Item<T>[]; readonly resourceVersion: string; readonly paged: boolean }> {
  const { clock, deadline, what, signal, resourceVersion, limit, receiver } = options
  const ask = (
    more: { readonly limit?: number; readonly continue?: string },
    version: string,
  ): Promise<ListPage<Item<T>>> =>
    withDeadline(clock, deadline, what, (inner) => source.list({ resourceVersion: version, ...more, signal: inner }), {
      signal,
    })
  const size = limit === undefined ? {} : { limit }
  let page = await ask(size, resourceVersion)
  const { resourceVersion: listed } = page
  const paged = page.continue !== undefined && page.continue !== ''
  const receive = receiver()
  const items = page.items.map((item) => receive(item))
  while (page.continue !== undefined && page.continue !== '') {
    try {
      // A continuation carries its version, and the server refuses to be told another one.
      page = await ask({ ...size, continue: page.continue }, '')
    } catch (error) {
      if (!isExpired(error)) throw error
      const whole = await ask({}, resourceVersion)
      const receiveAgain = receiver()
      return { items: whole.items.map((item) => receiveAgain(item)), resourceVersion: whole.resourceVersion, paged }
    }
    for (const item of page.items) items.push(receive(item))
  }
  return { items, resourceVersion: listed, paged }
}

/** Whether the server no longer has the version that was asked for. */
export function isExpired(error: unknown): boolean {
  // Servers before 1.13 said Gone where others say Expired.
  return isResourceExpired(error) || isGone(error)
}
