import { isApiError } from '@kubewright/api'
import { type Clock, textOf } from '@kubewright/base'
import { type RestClient, WatchStream } from '@kubewright/client'
import type { FollowOptions } from './cluster-view.ts'
import { objectAt } from './json.ts'
import { problemText } from './problem-text.ts'
import { collectionPath } from './resource-url.ts'

// The first page is small, so that a table shows its first rows early.
const firstPageSize = '100'
const pageSize = '500'
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const partial = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`
/** The media types of the forms, for lists and for watches. */
const mediaTypes: Readonly<Record<string, { readonly list: string; readonly watch: string }>> = {
  metadata: { list: partial('PartialObjectMetadataList'), watch: partial('PartialObjectMetadata') },
  table: { list: table, watch: table },
  'table-with-objects': { list: table, watch: table },
}
const firstDelay = 500
const longestDelay = 30_000

/**
 * Lists a collection and watches it until the signal aborts. A watch that ended or failed resumes at the last resource
 * version. Only if the server has forgotten that version, the collection is listed again. Never rejects: failures
 * become states.
 */
export async function followList(rest: RestClient, clock: Clock, options: FollowOptions): Promise<void> {
  const { signal, sink, canWatch = true, isFinal } = options
  let version: string | undefined
  let delay = firstDelay
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        version = await list(rest, options)
        sink.listed()
      }
      sink.state('live')
      if (!canWatch) return
      await watch(rest, options, version, (reached) => {
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
      if (isFinal?.(error)) return
      // The signal ends the wait; the loop then ends too.
      await clock.sleep(delay, { signal }).catch(() => undefined)
      delay = Math.min(delay * 2, longestDelay)
    }
  }
}

async function list(rest: RestClient, options: FollowOptions): Promise<string> {
  const { signal, sink } = options
  const { path, query, accept } = requestOf(options)
  let token = ''
  for (let isFirst = true; ; isFirst = false) {
    const limit = isFirst ? firstPageSize : pageSize
    const parameters = queryOf({ ...query, limit, ...(token === '' ? {} : { continue: token }) })
    const page = await rest.json({ method: 'GET', path, query: parameters, accept: accept?.list, signal })
    sink.page(page, isFirst)
    const metadata = objectAt(page, 'metadata')
    token = textOf(metadata['continue'])
    if (token === '') return textOf(metadata['resourceVersion'])
  }
}

/** Resolves when the server ends the watch. */
async function watch(
  rest: RestClient,
  options: FollowOptions,
  resourceVersion: string,
  reached: (version: string) => void,
): Promise<void> {
  const { signal, sink } = options
  const { path, query, accept } = requestOf(options)
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
  const rows = (object as { readonly rows?: readonly unknown[] | undefined } | null)?.rows
  return textOf(objectAt(objectAt(rows?.at(-1), 'object'), 'metadata')['resourceVersion'])
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return query
}

function requestOf({ resource, namespace, labelSelector, fieldSelector, form = 'object' }: FollowOptions): {
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly accept: { readonly list: string; readonly watch: string } | undefined
} {
  const includeObject = form === 'table-with-objects' ? 'Object' : undefined
  const query = { labelSelector, fieldSelector, includeObject }
  return { path: collectionPath(resource, namespace), query, accept: mediaTypes[form] }
}
