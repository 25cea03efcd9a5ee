import { ApiError, newBadRequest, newResourceExpired, newTooLargeResourceVersion } from '@kubewright/api'
import { CompactedError, FutureRevisionError } from '@kubewright/storage'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { servedObjects } from '../../resource/conversion.ts'
import { type StoredObject, storedObject } from '../../resource/stored-object.ts'
import type { Endpoint } from '../endpoint.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'
import { requireReached, waitUntilFresh } from './freshness.ts'
import { type ListOptions, versionNumber } from './list-options.ts'
import type { Selection } from './selection.ts'

/** The objects of a list, in their stored version. */
export interface Listing {
  readonly objects: readonly StoredObject[]
  /** Whether lists return the same array until the resource changes: see {@link ResourceCache.snapshot}. @default false */
  readonly isSnapshot?: boolean | undefined
  /** The resource version of the list. */
  readonly revision: number
  /** Where the next page starts; undefined on the last page. */
  readonly continueToken: string | undefined
  /** How many objects follow; undefined when unknown, as with a selector. */
  readonly remaining: number | undefined
}

/**
 * Finds the objects of a list at the requested version. Lists of the present come from the cache; lists of an exact version in the past,
 * and the pages after the first, come from the store.
 */
export async function collectObjects(
  endpoint: Endpoint,
  context: RequestContext,
  options: ListOptions,
  selection: Selection,
): Promise<Listing> {
  const { registry, resource } = endpoint
  const prefix = registry.prefixOf(resource, context.info.namespace)
  const { resourceVersion: version, match, limit } = options
  if (options.continueToken !== '') {
    const { after, revision: paged } = decodeContinue(options.continueToken, prefix)
    if (version !== '' && version !== '0')
      throw newBadRequest('specifying resource version is not allowed when using continue')
    // A token with a negative version continues with the present objects.
    const revision = paged < 0 ? await registry.store.revision() : paged
    // A list at any version (0) is not paged.
    return page(endpoint, prefix, selection, { limit: version === '0' ? 0 : limit, after, revision })
  }
  const wanted = version === '' ? undefined : versionNumber(version)
  if (wanted !== undefined && wanted > 0 && (match === 'Exact' || (match === '' && limit > 0))) {
    return page(endpoint, prefix, selection, { limit, revision: wanted })
  }
  const { feed, store } = registry
  const cache = await feed.cache(resource.storage.prefix)
  if (!cache.isChecked && prefix === cache.prefix && (limit === 0 || wanted === 0)) await feed.checkAll(cache)
  // A list without a version includes every write that completed before the request arrived.
  if (wanted === undefined) await feed.reached(await store.revision(), context.request.signal)
  else if (resource.storage.uncached) requireReached(registry, wanted)
  else if (wanted > feed.revision) await waitUntilFresh(registry, wanted, context.request.signal)
  const revision = feed.revision
  // A list at any version (0) ignores the limit.
  const most = limit === 0 || wanted === 0 ? Number.POSITIVE_INFINITY : limit
  if (selection.everything && most === Number.POSITIVE_INFINITY) {
    const objects = cache.snapshot(prefix)
    warnOfUnreadable(endpoint, context, cache, selection)
    return { objects, isSnapshot: true, revision, continueToken: undefined, remaining: undefined }
  }
  const objects: StoredObject[] = []
  let seen = 0
  if (readsFields(endpoint, selection)) await servedObjects(resource, cache.list(prefix))
  cache.scan(prefix, (object) => {
    if (objects.length >= most) return false
    seen++
    if (selection.matches(object)) objects.push(object)
    return true
  })
  // After the scan, which may have found some of them.
  warnOfUnreadable(endpoint, context, cache, selection)
  // Objects behind a full page count as remaining whether or not the selector matches them: they have not been looked at.
  const total = objects.length < most ? seen : cache.count(prefix)
  if (seen === total) return { objects, revision, continueToken: undefined, remaining: undefined }
  return {
    objects,
    revision,
    continueToken: encodeContinue(objects.at(-1)!.key, prefix, revision),
    remaining: selection.everything ? total - limit : undefined,
  }
}

/** The number of names in a warning about objects that cannot be read. */
const warnedNames = 5

/**
 * Warns the client of objects that the list leaves out because they cannot be read. kube-apiserver fails the list instead. A selector for
 * one name hides the others, because the user may have access to that name only.
 */
function warnOfUnreadable(
  { registry, resource }: Endpoint,
  { info, warn }: RequestContext,
  { unreadable }: ResourceCache,
  selection: Selection,
): void {
  if (unreadable.size === 0) return
  const prefix = registry.prefixOf(resource, info.namespace)
  let keys = [...unreadable.keys()].filter((key) => key.startsWith(prefix)).sort()
  if (selection.name !== undefined) keys = keys.filter((key) => key.endsWith(`/${selection.name}`))
  if (keys.length === 0) return
  const names = keys.slice(0, warnedNames).map((key) => key.slice(resource.storage.prefix.length))
  const more = keys.length > names.length ? ` and ${keys.length - names.length} more` : ''
  warn(`the list leaves out stored objects that cannot be read: ${resource.kind.plural} ${names.join(', ')}${more}`)
}

/** Whether selectors read fields of objects that must be converted to the served version first. */
function readsFields({ resource }: Endpoint, { everything }: Selection): boolean {
  return resource.conversion.storage !== undefined && !everything
}

/** Reads a page of an exact version from the store: as many matching objects as the limit says, or all. */
async function page(
  endpoint: Endpoint,
  prefix: string,
  selection: Selection,
  at: { limit: number; after?: string | undefined; revision: number },
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
    const { feed } = endpoint.registry
    const found = result.entries.map(storedObject)
    const entries = found.filter((object) => feed.isReadable(endpoint.resource.storage.prefix, object))
    if (readsFields(endpoint, selection)) await servedObjects(endpoint.resource, entries)
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
  at: { after?: string | undefined; revision: number },
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
