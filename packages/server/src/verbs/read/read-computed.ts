import { type ApiResponse, newNotFound } from '@kubewright/api'
import type { Representation } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { respond } from '../../request/respond.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { ComputedObjects } from '../../resource/resource.ts'
import {
  isAList,
  isNoList,
  partialObjectMetadata,
  partialObjectMetadataList,
} from '../../table/partial-object-metadata.ts'
import { defaultTable, includeObjectOf, tableOf } from '../../table/table.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Selection } from './selection.ts'

/** Handles get requests for an object that is computed. */
export async function getComputed(
  endpoint: Endpoint,
  { info, request }: RequestContext,
  computed: ComputedObjects,
  representation: Representation,
): Promise<ApiResponse> {
  const { resource } = endpoint
  const object = await computed.get(info.name, request.signal)
  if (!object) throw newNotFound({ group: resource.kind.group, resource: resource.kind.singular }, info.name)
  if (representation.as === undefined) return respond(200, object, representation)
  if (representation.as === 'Table') return tableResponse(endpoint, [object], representation)
  if (representation.as === 'PartialObjectMetadataList') throw isNoList(object, resource)
  return respond(200, partialObjectMetadata(object, representation.asVersion!), representation)
}

/** Handles list requests for objects that are computed. The list has no resource version: nothing can resume from it. */
export async function listComputed(
  endpoint: Endpoint,
  { request }: RequestContext,
  computed: ComputedObjects,
  { labels, fields }: Selection,
  representation: Representation,
): Promise<ApiResponse> {
  const { kind } = endpoint.resource
  const objects = (await computed.list(request.signal)).filter(({ metadata }) => {
    const selectable = { 'metadata.name': metadata.name ?? '', 'metadata.namespace': '' }
    return labels.matches(metadata.labels ?? {}) && fields.matches(selectable)
  })
  if (representation.as === undefined) {
    const items = objects.map(({ apiVersion: _, kind: __, ...rest }) => rest)
    return respond(200, { kind: kind.listKind, apiVersion: kind.apiVersion, metadata: {}, items }, representation)
  }
  if (representation.as === 'Table') return tableResponse(endpoint, objects, representation)
  if (representation.as === 'PartialObjectMetadata') throw isAList(endpoint.resource)
  return respond(200, partialObjectMetadataList(objects, {}, representation.asVersion!), representation)
}

function tableResponse(
  { resource, registry }: Endpoint,
  objects: readonly MutableObject[],
  representation: Representation,
): ApiResponse {
  const options = { apiVersion: representation.asVersion!, include: includeObjectOf(representation.includeObject) }
  const table = resource.presentation.table ?? defaultTable
  return respond(200, tableOf(table, objects, {}, options, registry.clock.now()), representation)
}
