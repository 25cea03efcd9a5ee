import type { ApiResponse } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import { andThen } from '../request/awaitable.ts'
import { isProtobuf, type Representation } from '../request/negotiate.ts'
import { respond, respondBytes } from '../request/respond.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { isNoList, partialObjectMetadata } from '../table/partial-object-metadata.ts'
import { defaultTable, includeObjectOf, tableMetadata, tableOf } from '../table/table.ts'
import type { Endpoint } from './endpoint.ts'
import { showObject } from './subresource-view.ts'

/** Responds with an object that is not stored, or with a Status, which is never converted. */
export function presentUnstored(
  status: number,
  object: Readonly<Record<string, unknown>>,
  resource: Resource,
  representation: Representation,
): ApiResponse {
  const { as, asVersion, mediaType, pretty, types } = representation
  if (as === undefined || object['kind'] === 'Status') return respond(status, object, { mediaType, pretty, types })
  const shown = object as MutableObject
  if (as === 'PartialObjectMetadataList') throw isNoList(shown, resource)
  return respond(status, partialObjectMetadata(shown, asVersion!), representation)
}

/** Responds with one stored object in the negotiated representation. Stored bytes are sent unchanged where they fit. */
export function presentObject(
  status: number,
  endpoint: Endpoint,
  stored: StoredObject,
  representation: Representation,
): Awaitable<ApiResponse> {
  const served = servedObject(endpoint.resource, stored)
  return andThen(served, (shown) => presentServed(status, endpoint, shown, representation))
}

function presentServed(
  status: number,
  endpoint: Endpoint,
  served: StoredObject,
  representation: Representation,
): ApiResponse {
  const { resource, subresource, view } = endpoint
  if (representation.as === undefined) {
    // An object of revision 0 comes from a dry run and has no resourceVersion, which the bytes would have.
    if (!view && served.revision > 0 && !isProtobuf(representation)) {
      return respondBytes(status, served.responseBytes(), representation)
    }
    return respond(status, showObject(endpoint, served.object as MutableObject), representation)
  }
  const object = showObject(endpoint, served.object as MutableObject)
  const toInternal = view ? undefined : resource.conversion.toInternal
  const apiVersion = representation.asVersion!
  if (representation.as === 'Table') {
    const table = resource.subresources[subresource]?.table ?? resource.presentation.table ?? defaultTable
    const options = { apiVersion, include: includeObjectOf(representation.includeObject), toInternal }
    const now = endpoint.registry.clock.now()
    return respond(status, tableOf(table, [object], tableMetadata(object), options, now), representation)
  }
  if (representation.as === 'PartialObjectMetadataList') throw isNoList(object, resource)
  return respond(status, partialObjectMetadata(toInternal?.(object) ?? object, apiVersion), representation)
}
