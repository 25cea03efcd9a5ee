import { isGone, isResourceExpired, type KubeObject } from '@kubewright/api'
import { type Clock, type Duration, withDeadline } from '@kubewright/base'
import type { Item } from '../store/item.ts'
import type { ListPage, ListWatch } from './list-watch.ts'

/** Options of {@link listAll}. */
export interface ListAllOptions<T> {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly resourceVersion: string
  /** The page size; undefined requests the list in one piece. */
  readonly limit: number | undefined
  /** The time limit for one page. */
  readonly deadline: Duration
  /** What is listed, for the message of the time limit. */
  readonly what: string
  /**
   * Called for each attempt to get the complete list. The returned function receives each object as its page arrives; its
   * result is listed.
   */
  readonly receiver: () => (item: Item<T>) => Item<T>
}

/**
 * Lists all pages. When the continue token expires, the list is requested again in one piece, so that the result is
 * always one consistent state. `paged` states whether the server returned several pages.
 */
export async function listAll<T extends KubeObject>(
  source: ListWatch<T>,
  options: ListAllOptions<T>,
): Promise<{ readonly items: Item<T>[]; readonly resourceVersion: string; readonly paged: boolean }> {
  const { clock, deadline, what, signal, resourceVersion, limit, receiver } = options
  const ask = (
    more: { readonly limit?: number | undefined; readonly continue?: string | undefined },
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
      // A continue token implies the version; the server rejects a request with both.
      page = await ask({ ...size, continue: page.continue }, '')
    } catch (error) {
      if (!isExpired(error)) throw error
      const complete = await ask({}, resourceVersion)
      const receiveAgain = receiver()
      return {
        items: complete.items.map((item) => receiveAgain(item)),
        resourceVersion: complete.resourceVersion,
        paged,
      }
    }
    for (const item of page.items) items.push(receive(item))
  }
  return { items, resourceVersion: listed, paged }
}

/** Whether the server no longer has the requested version. */
export function isExpired(error: unknown): boolean {
  // Servers before 1.13 respond with Gone instead of Expired.
  return isResourceExpired(error) || isGone(error)
}
