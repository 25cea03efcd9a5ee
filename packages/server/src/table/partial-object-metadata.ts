import { ApiError } from '@kubewright/api'
import { unclassifiedError } from '../request/unclassified-error.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'

/** The metadata of an object as a PartialObjectMetadata. */
export function partialObjectMetadata(object: Readonly<MutableObject>, apiVersion: string): MutableObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata }
}

/** The metadata of objects as a PartialObjectMetadataList. As in kube-apiserver, an empty list has `null` items. */
export function partialObjectMetadataList(
  objects: readonly MutableObject[],
  metadata: Readonly<Record<string, unknown>>,
  apiVersion: string,
): Record<string, unknown> {
  const items = objects.map((object) => partialObjectMetadata(object, apiVersion))
  return { kind: 'PartialObjectMetadataList', apiVersion, metadata, items: items.length === 0 ? null : items }
}

/** The error for a client that requests PartialObjectMetadata of a list. */
export function isAList({ kind, origin }: Resource): ApiError {
  const type = origin.hasGoTypes ? goType(kind.group, kind.listKind) : '*unstructured.UnstructuredList'
  return notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${type})`)
}

/** The error for a client that requests PartialObjectMetadataList of a single object. */
export function isNoList({ apiVersion, kind }: MutableObject, { origin }: Resource): ApiError {
  if (!origin.hasGoTypes) return unclassifiedError('content is not a list')
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const type = goType(group, kind)
  return notAcceptable(`you requested PartialObjectMetadataList, but the requested object is not a list (${type})`)
}

/** The name of kube-apiserver's internal Go type of a built-in kind. Its package is the first word of the group. */
function goType(group: string, kind: string): string {
  const [name = ''] = group.split('.')
  return `*${name === '' || name === 'events' ? 'core' : name}.${kind}`
}

function notAcceptable(message: string): ApiError {
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'NotAcceptable',
    code: 406,
  })
}
