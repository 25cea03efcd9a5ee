import type { ApiResponse } from '@kubewright/api'
import { isProtobuf, type Representation } from '../request/negotiate.ts'
import { respond, respondBytes } from '../request/respond.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { isNoList, partialObjectMetadata } from '../table/partial-object-metadata.ts'
import { defaultTable, includeObjectOf, tableMetadata, tableOf } from '../table/table.ts'

/** An object as this endpoint shows it: in its version, or as the kind of a subresource. */
export function shown(resource: Resource, subresource: string, stored: StoredObject): MutableObject {
  const object = stored.object as MutableObject
  const view = resource.subresources[subresource]?.view
  return view ? view.show(object) : object
}

/** Answers with one object in the representation asked for. */
export async function presentObject(
  status: number,
  resource: Resource,
  subresource: string,
  found: StoredObject,
  representation: Representation,
  now: number,
): Promise<ApiResponse> {
  const stored = await servedObject(resource, found)
  const view = resource.subresources[subresource]?.view
  if (representation.as === undefined) {
    // The stored bytes are the answer unless they are of another version or kind.
    if (!view && stored.revision > 0 && !isProtobuf(representation))
      return respondBytes(status, stored.bytes, representation)
    return respond(status, shown(resource, subresource, stored), representation)
  }
  const object = shown(resource, subresource, stored)
  if (representation.as === 'Table') {
    const table = resource.subresources[subresource]?.table ?? resource.presentation.table ?? defaultTable
    const options = {
      apiVersion: representation.asVersion!,
      include: includeObjectOf(representation.includeObject),
      inner: view ? undefined : resource.conversion.toInternal,
    }
    return respond(status, tableOf(table, [object], tableMetadata(object), options, now), representation)
  }
  if (representation.as === 'PartialObjectMetadataList') throw isNoList(object, resource)
  const inside = view ? object : (resource.conversion.toInternal?.(object) ?? object)
  return respond(status, partialObjectMetadata(inside, representation.asVersion!), representation)
}
