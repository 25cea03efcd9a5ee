import {
  ApiError,
  type ApiResponse,
  newBadRequest,
  newResourceExpired,
  newTooLargeResourceVersion,
} from '@kubewright/api'
import { CompactedError, FutureRevisionError } from '@kubewright/storage'
import { isProtobuf, type Representation } from '../request/negotiate.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respond, respondBytes } from '../request/respond.ts'
import { servedObjects } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import { type StoredObject, storedObject } from '../resource/stored-object.ts'
import { isAList, partialObjectMetadataList } from '../table/partial-object-metadata.ts'
import { defaultTable, includeObjectOf, tableOf } from '../table/table.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'
import type { Endpoint } from './endpoint.ts'
import { type ListOptions, listOptions, versionNumber } from './list-options.ts'
import { negotiateList } from './negotiation.ts'
import { type Selection, selectionOf } from './selection.ts'

/** How long a list waits for a version that this server has not reached. */
const freshnessMillis = 3000

/** What a list found. */
export interface Listing {
  readonly objects: readonly StoredObject[]
  readonly revision: number
  readonly continueToken: string | undefined
  readonly remaining: number | undefined
}

/** Answers a list request. */
export async function list(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateList(context, endpoint.resource)
  const options = listOptions(query, false)
  const selection = selectionOf(endpoint.resource, query)
  const listing = await collect(endpoint, context, options, selection)
  return presentList(endpoint, listing, representation)
}

/** Finds the objects that a list asks for, at the version it asks for. */
export async function collect(
  endpoint: Endpoint,
  context: RequestContext,
  options: ListOptions,
  selection: Selection,
): Promise<Listing> {
  const prefix = scopePrefix(endpoint, context.info.namespace)
  const { resourceVersion: version, match, limit } = options
  if (options.continueToken !== '') {
    const { after, revision: paged } = decodeContinue(options.continueToken, prefix)
    if (version !== '' && version !== '0')
      throw newBadRequest('specifying resource version is not allowed when using continue')
    // A negative version goes on with what there is now.
    const revision = paged < 0 ? await endpoint.registry.store.revision() : paged
    // What comes from any version comes whole.
    return page(endpoint, prefix, selection, { limit: version === '0' ? 0 : limit, after, revision })
  }
  const wanted = version === '' ? undefined : versionNumber(version)
  if (wanted !== undefined && wanted > 0 && (match === 'Exact' || (match === '' && limit > 0))) {
    return page(endpoint, prefix, selection, { limit, revision: wanted })
  }
  const { feed, store } = endpoint.registry
  const cache = await feed.cache(endpoint.resource.storage.prefix)
  // Without a version a list is as new as the moment it was asked for.
  if (wanted === undefined) await feed.reached(await store.revision(), context.request.signal)
  else if (wanted > feed.revision) await waitUntilFresh(endpoint, wanted, context.request.signal)
  const revision = feed.revision
  // A list at any version comes whole, whatever the limit.
  const most = limit === 0 || wanted === 0 ? Number.POSITIVE_INFINITY : limit
  const objects: StoredObject[] = []
  let seen = 0
  if (looksInside(endpoint, selection)) await servedObjects(endpoint.resource, cache.list(prefix))
  cache.scan(prefix, (object) => {
    if (objects.length >= most) return false
    seen++
    if (selection.matches(object)) objects.push(object)
    return true
  })
  // Whether there is more is decided by what there is, chosen or not, since the rest has not been looked at.
  const total = objects.length < most ? seen : cache.count(prefix)
  if (seen === total) return { objects, revision, continueToken: undefined, remaining: undefined }
  return {
    objects,
    revision,
    continueToken: encodeContinue(objects.at(-1)!.key, prefix, revision),
    remaining: selection.everything ? total - limit : undefined,
  }
}

/** Whether objects have to be in the version that the request speaks before it is known which of them it means. */
function looksInside({ resource }: Endpoint, { everything }: Selection): boolean {
  return resource.conversion.storage !== undefined && !everything
}

/** Keys of a namespace, or of all. */
export function scopePrefix(endpoint: Endpoint, namespace: string): string {
  const { kind, storage } = endpoint.resource
  return kind.scope === 'Namespaced' && namespace !== '' ? `${storage.prefix}${namespace}/` : storage.prefix
}

async function page(
  endpoint: Endpoint,
  prefix: string,
  selection: Selection,
  at: { limit: number; after?: string; revision: number },
): Promise<Listing> {
  const objects: StoredObject[] = []
  let after = at.after
  for (;;) {
    const wanted = at.limit === 0 ? undefined : at.limit - objects.length
    const result = await endpoint.registry.store
      .list({
        prefix,
        revision: at.revision,
        ...(after === undefined ? {} : { after }),
        ...(wanted === undefined ? {} : { limit: wanted }),
      })
      .catch((error: unknown) => {
        throw listError(error, at, after, prefix, endpoint.registry.feed.revision)
      })
    const entries = result.entries.map(storedObject)
    if (looksInside(endpoint, selection)) await servedObjects(endpoint.resource, entries)
    for (const object of entries) if (selection.matches(object)) objects.push(object)
    after = result.next
    if (after === undefined) return { objects, revision: at.revision, continueToken: undefined, remaining: undefined }
    if (objects.length >= at.limit) {
      return {
        objects,
        revision: at.revision,
        continueToken: encodeContinue(after, prefix, at.revision),
        remaining: selection.everything ? result.remaining : undefined,
      }
    }
  }
}

const inconsistent =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

function listError(
  error: unknown,
  at: { after?: string; revision: number },
  after: string | undefined,
  prefix: string,
  current: number,
): unknown {
  if (error instanceof FutureRevisionError) return newTooLargeResourceVersion(String(at.revision), String(current), 1)
  if (!(error instanceof CompactedError)) return error
  if (at.after === undefined) return newResourceExpired('The resourceVersion for the provided list is too old.')
  const expired = newResourceExpired(inconsistent)
  const token = encodeContinue(after!, prefix, current)
  return new ApiError({ ...expired.status, metadata: { continue: token } })
}

/** Waits a little for a version that is still on its way; a version from the future is an error. */
export async function waitUntilFresh(endpoint: Endpoint, wanted: number, signal: AbortSignal): Promise<void> {
  const { feed, clock } = endpoint.registry
  const deadline = new AbortController()
  const timer = clock.setTimer(freshnessMillis, () => deadline.abort(), 'freshness')
  const stop = (): void => deadline.abort()
  signal.addEventListener('abort', stop)
  try {
    await feed.reached(wanted, deadline.signal)
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', stop)
  }
  if (feed.revision < wanted) throw newTooLargeResourceVersion(String(wanted), String(feed.revision), 1)
}

/** Answers with a list in the representation asked for. */
export async function presentList(
  endpoint: Endpoint,
  listing: Listing,
  representation: Representation,
): Promise<ApiResponse> {
  const { resource } = endpoint
  const hasContinue = resource.origin.listsAlwaysCarryContinue && representation.as === undefined
  const found = await servedObjects(resource, listing.objects)
  const metadata = {
    resourceVersion: String(listing.revision),
    ...(listing.continueToken !== undefined || hasContinue ? { continue: listing.continueToken ?? '' } : {}),
    ...(listing.remaining === undefined ? {} : { remainingItemCount: listing.remaining }),
  }
  if (representation.as === undefined && !isProtobuf(representation)) {
    return respondBytes(200, listBytes(endpoint, found, metadata), representation)
  }
  const objects = found.map(({ object }) => object as MutableObject)
  if (representation.as === undefined) {
    const { listItemsCarryTypeMeta } = resource.origin
    const items = listItemsCarryTypeMeta ? objects : objects.map(({ apiVersion: _, kind: __, ...rest }) => rest)
    const value = { kind: resource.kind.listKind, apiVersion: resource.kind.apiVersion, metadata, items }
    return respond(200, value, representation)
  }
  const apiVersion = representation.asVersion!
  if (representation.as === 'Table') {
    const options = {
      apiVersion,
      include: includeObjectOf(representation.includeObject),
      inner: resource.conversion.toInternal,
    }
    const now = endpoint.registry.clock.now()
    return respond(
      200,
      tableOf(resource.presentation.table ?? defaultTable, objects, metadata, options, now),
      representation,
    )
  }
  if (representation.as === 'PartialObjectMetadata') throw isAList(resource)
  const { toInternal } = resource.conversion
  const inside = toInternal ? objects.map((object) => toInternal(object)) : objects
  return respond(200, partialObjectMetadataList(inside, metadata, apiVersion), representation)
}

const comma = 0x2c

/** The list as the bytes of its items, one behind the other, written into one buffer; the newline that ends an answer included. */
function listBytes(endpoint: Endpoint, objects: readonly StoredObject[], metadata: object): Buffer {
  const { kind, origin } = endpoint.resource
  const head = Buffer.from(
    `${JSON.stringify({ kind: kind.listKind, apiVersion: kind.apiVersion, metadata }).slice(0, -1)},"items":[`,
  )
  let size = head.length + 3
  for (const object of objects) size += object.itemSize + 1
  const out = Buffer.allocUnsafe(size)
  let at = head.copy(out)
  for (let i = 0; i < objects.length; i++) {
    if (i > 0) out[at++] = comma
    at = objects[i]!.writeItem(out, at, origin.listItemsCarryTypeMeta)
  }
  at += out.write(']}\n', at, 'latin1')
  return out.subarray(0, at)
}
