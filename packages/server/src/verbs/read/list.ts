import { type ApiRequest, type ApiResponse, newRequestEntityTooLarge } from '@kubewright/api'
import { Stretch, unreachable } from '@kubewright/base'
import { ProtobufListEncoder } from '../../codec/protobuf/envelope.ts'
import { defaultEncodedBytes } from '../../request/list-limits.ts'
import { isProtobuf, type Representation } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { respond, respondBytes, respondProtobuf } from '../../request/respond.ts'
import { servedObjects } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { isAList, partialObjectMetadata, partialObjectMetadataList } from '../../table/partial-object-metadata.ts'
import { defaultTable, includeObjectOf, type TableOptions, tableOf, tableRow } from '../../table/table.ts'
import type { Endpoint } from '../endpoint.ts'
import { negotiateList, requireListRoute } from '../negotiation.ts'
import { collectObjects, type Listing } from './collect-objects.ts'
import { listFormat } from './list-format.ts'
import { readListQuery } from './list-options.ts'
import { listComputed } from './read-computed.ts'
import { isStreamed, metadataPieces, storedPieces, streamItems, streamList, stretchBytes } from './stream-list.ts'

/** Handles list requests. */
export async function list(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const { resource } = endpoint
  requireListRoute(context, resource)
  const { options, selection, negotiated } = readListQuery(resource, query, { watch: false }, () =>
    negotiateList(context, resource),
  )
  if (resource.computed) return listComputed(endpoint, context, resource.computed, selection, negotiated)
  const { objects = Number.POSITIVE_INFINITY } = context.listLimits ?? {}
  const paged = { ...options, limit: Math.min(options.limit, objects) }
  const listing = await collectObjects(endpoint, context, paged, selection)
  if (listing.objects.length > objects) {
    throw newRequestEntityTooLarge(`the list has more than ${objects} objects: request it in pages with limit`)
  }
  return presentList(endpoint, context, listing, negotiated)
}

/**
 * Responds with a list in the negotiated representation. Stored bytes are copied unchanged where they fit. Large lists in compact JSON are
 * streamed.
 */
export async function presentList(
  endpoint: Endpoint,
  { request, listLimits }: Pick<RequestContext, 'request' | 'listLimits'>,
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
  if (isStreamed(found)) {
    if (isProtobuf(representation)) {
      checkEncodedBytes(found, listLimits?.encodedBytes ?? defaultEncodedBytes)
      return protobufList(endpoint, found, metadata, representation)
    }
    // Objects that were converted are in another array.
    const isSnapshot = listing.isSnapshot === true && found === listing.objects
    return streamListAs(endpoint, request, { found, metadata, isSnapshot }, representation)
  }
  if (representation.as === undefined && !isProtobuf(representation)) {
    return respondBytes(200, listBytes(endpoint, found, metadata), representation)
  }
  if (representation.as === 'PartialObjectMetadataList' && canCutMetadata(endpoint, found, representation)) {
    return respondBytes(200, metadataListBytes(found, metadata, representation.asVersion!), representation)
  }
  const objects = found.map((stored) => stored.object as MutableObject)
  if (representation.as === undefined) {
    const { listItemsCarryTypeMeta } = resource.origin
    const items = objects.map(listItem(listItemsCarryTypeMeta))
    const value = { kind: resource.kind.listKind, apiVersion: resource.kind.apiVersion, metadata, items }
    return respond(200, value, representation)
  }
  const apiVersion = representation.asVersion!
  if (representation.as === 'Table') {
    const options: TableOptions = {
      apiVersion,
      include: includeObjectOf(representation.includeObject),
      toInternal: resource.conversion.toInternal,
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

/** Refuses a list that takes too much memory to encode as a whole. */
function checkEncodedBytes(found: readonly StoredObject[], limit: number): void {
  let bytes = 0
  for (const { itemSize } of found) bytes += itemSize
  if (bytes > limit) {
    throw newRequestEntityTooLarge(
      `the list has ${bytes} bytes, more than ${limit}: request it in pages with limit, or as compact JSON`,
    )
  }
}

interface StreamedObjects {
  readonly found: readonly StoredObject[]
  readonly metadata: Record<string, unknown>
  /** Whether the next list has the same array if nothing changes. */
  readonly isSnapshot: boolean
}

/** As {@link presentList}, for a list that is encoded while the client reads it. */
function streamListAs(
  { resource, registry }: Endpoint,
  request: ApiRequest,
  { found, metadata, isSnapshot }: StreamedObjects,
  representation: Representation,
): ApiResponse {
  const { as, asVersion, includeObject, mediaType, pretty } = representation
  const { kind, origin, presentation } = resource
  const format = listFormat(representation) ?? unreachable(`No format of lists for ${mediaType}`)
  const isCopied = mediaType === 'application/json' && !pretty
  if (as === undefined) {
    const envelope = { kind: kind.listKind, apiVersion: kind.apiVersion, metadata, items: [] }
    if (isCopied) return streamList(request, envelope, storedPieces(found, origin.listItemsCarryTypeMeta, isSnapshot))
    const item = listItem(origin.listItemsCarryTypeMeta)
    return streamItems(request, format, { list: envelope, items: 'items' }, found, item)
  }
  const apiVersion = asVersion!
  const { toInternal } = resource.conversion
  if (as === 'Table') {
    const table = presentation.table ?? defaultTable
    const options: TableOptions = { apiVersion, include: includeObjectOf(includeObject), toInternal }
    const now = registry.clock.now()
    const envelope = { ...tableOf(table, [], metadata, options, now), rows: [] }
    const row = (object: unknown): unknown => tableRow(table, object as MutableObject, options, now)
    return streamItems(request, format, { list: envelope, items: 'rows' }, found, row)
  }
  if (as === 'PartialObjectMetadata') throw isAList(resource)
  const envelope = { ...partialObjectMetadataList([], metadata, apiVersion), items: [] }
  if (isCopied && !toInternal) return streamList(request, envelope, metadataPieces(found, apiVersion))
  const item = (object: unknown): unknown =>
    partialObjectMetadata(toInternal?.(object as MutableObject) ?? (object as MutableObject), apiVersion)
  return streamItems(request, format, { list: envelope, items: 'items' }, found, item)
}

/** What a list contains of an object: lists of built-in kinds have items without type. */
const listItem =
  (withTypeMeta: boolean) =>
  (object: unknown): unknown => {
    if (withTypeMeta) return object
    const { apiVersion: _, kind: __, ...rest } = object as MutableObject
    return rest
  }

/** A list in protobuf, which is in memory as a whole: it begins with its length. Other requests run while it is encoded. */
async function protobufList(
  { resource, registry }: Endpoint,
  found: readonly StoredObject[],
  metadata: Record<string, unknown>,
  representation: Representation,
): Promise<ApiResponse> {
  const { kind, presentation, conversion } = resource
  const { as, asVersion: apiVersion = '', includeObject } = representation
  if (as === 'PartialObjectMetadata') throw isAList(resource)
  if (as === 'Table') {
    const options: TableOptions = {
      apiVersion,
      include: includeObjectOf(includeObject),
      toInternal: conversion.toInternal,
    }
    const objects = found.map((stored) => stored.read() as MutableObject)
    const table = tableOf(presentation.table ?? defaultTable, objects, metadata, options, registry.clock.now())
    return respond(200, table, representation)
  }
  const list =
    as === undefined
      ? { kind: kind.listKind, apiVersion: kind.apiVersion, metadata }
      : { ...partialObjectMetadataList([], metadata, apiVersion) }
  const inner = (object: MutableObject): MutableObject =>
    as === undefined ? object : partialObjectMetadata(conversion.toInternal?.(object) ?? object, apiVersion)
  const encoder = new ProtobufListEncoder(representation.types, list)
  const items: unknown[] = []
  const stretch = new Stretch(stretchBytes)
  for (const stored of found) {
    const turn = stretch.before(stored.itemSize)
    if (turn) await turn
    const object = inner(stored.read() as MutableObject)
    encoder.add(object)
    items.push(object)
  }
  return respondProtobuf(200, encoder.finish(), { ...list, items })
}

/** Whether the metadata of the objects can be copied from their stored bytes. An empty list has `null` items, which it cannot write. */
function canCutMetadata(endpoint: Endpoint, found: readonly StoredObject[], representation: Representation): boolean {
  return found.length > 0 && !isProtobuf(representation) && !endpoint.resource.conversion.toInternal
}

/** The JSON of a PartialObjectMetadataList. Ends with the newline of a response. */
function metadataListBytes(found: readonly StoredObject[], metadata: object, apiVersion: string): Buffer {
  const envelope = JSON.stringify({ kind: 'PartialObjectMetadataList', apiVersion, metadata })
  const head = Buffer.from(`${envelope.slice(0, -1)},"items":[`)
  return Buffer.concat([head, ...metadataPieces(found, apiVersion), Buffer.from(']}\n')])
}

const comma = 0x2c

/** The JSON of a list, written into one buffer from the stored bytes of its items. Ends with the newline of a response. */
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
