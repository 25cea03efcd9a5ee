import { isApiError } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { type RestClient, WatchStream } from '@kubewright/client'
import type { FeedState } from '../wire/messages.ts'
import { objectAt, textOf } from './json.ts'
import { problemText } from './problem-text.ts'

/** Receives a list and its changes. */
export interface ListSink {
  /** One page of a list. `isFirst` starts a new list, which replaces an earlier one when {@link listed} is called. */
  page(list: unknown, isFirst: boolean): void
  listed(): void
  /** A change. `object` is in the form that the watch was opened with. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown): void
  state(state: FeedState, problem?: string): void
}

/** Options of {@link followList}. */
export interface FollowListOptions {
  readonly rest: RestClient
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** @default JSON */
  readonly accept?: { readonly list: string; readonly watch: string } | undefined
  /** Whether the resource can be watched; else it is listed once. @default true */
  readonly canWatch?: boolean | undefined
  readonly sink: ListSink
}

const pageSize = '500'
const firstDelay = 500
const longestDelay = 30_000

/**
 * Lists a collection and watches it until the signal aborts. A watch that ended or failed resumes at the last resource
 * version. Only if the server has forgotten that version, the collection is listed again. Never rejects: failures
 * become states.
 */
export async function followList(options: FollowListOptions): Promise<void> {
  const { clock, signal, sink, canWatch = true } = options
  let version: string | undefined
  let delay = firstDelay
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        version = await list(options)
        sink.listed()
      }
      sink.state('live')
      if (!canWatch) return
      await watch(options, version, (reached) => {
        version = reached
        delay = firstDelay
      })
    } catch (error) {
      if (signal.aborted) return
      if (isApiError(error) && error.statusCode === 410 && version !== undefined) {
        version = undefined
        continue
      }
      sink.state('retrying', problemText(error))
      // The signal ends the wait; the loop then ends too.
      await clock.sleep(delay, { signal }).catch(() => undefined)
      delay = Math.min(delay * 2, longestDelay)
    }
  }
}

async function list({ rest, path, query, accept, signal, sink }: FollowListOptions): Promise<string> {
  let token = ''
  for (let isFirst = true; ; isFirst = false) {
    const parameters = queryOf({ ...query, limit: pageSize, ...(token === '' ? {} : { continue: token }) })
    const page = await rest.json({ method: 'GET', path, query: parameters, accept: accept?.list, signal })
    sink.page(page, isFirst)
    const metadata = objectAt(page, 'metadata')
    token = textOf(metadata['continue'])
    if (token === '') return textOf(metadata['resourceVersion'])
  }
}

/** Resolves when the server ends the watch. */
async function watch(
  { rest, path, query, accept, signal, sink }: FollowListOptions,
  resourceVersion: string,
  reached: (version: string) => void,
): Promise<void> {
  const parameters = queryOf({ ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion })
  const body = await rest.stream({ method: 'GET', path, query: parameters, accept: accept?.watch, signal })
  for await (const batch of new WatchStream<unknown>({ body, read: (object) => object }).batches()) {
    for (const event of batch) {
      if (event.type === 'BOOKMARK') {
        if (event.resourceVersion !== '') reached(event.resourceVersion)
        continue
      }
      sink.event(event.type, event.object)
      const version = versionOf(event.object)
      if (version !== '') reached(version)
    }
  }
}

/** The resource version of an object, or of the last row of a Table. */
function versionOf(object: unknown): string {
  const own = textOf(objectAt(object, 'metadata')['resourceVersion'])
  if (own !== '') return own
  const rows = (object as { readonly rows?: readonly unknown[] } | null)?.rows
  return textOf(objectAt(objectAt(rows?.at(-1), 'object'), 'metadata')['resourceVersion'])
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return query
}
