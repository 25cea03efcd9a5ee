import { newUnsupportedMediaType } from '@kubewright/api'
import { refuseWithoutMessage } from '../../codec/protobuf/decode-object.ts'
import { checkBody, checkCommas, mediaTypeOf, readBody } from '../../request/body.ts'
import { isServed, type MediaType, servedTypes } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import type { WriteOptions } from '../../request/write-options.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'

/** Throws a 415 unless the body is in one of the media types of objects. A create checks it before its options, an update after them. */
export function requireObjectType(context: RequestContext): MediaType {
  const mediaType = mediaTypeOf(context)
  if (!isServed(mediaType)) throw newUnsupportedMediaType(servedTypes)
  return mediaType
}

/** Reads and decodes the body of a create or update. Throws an ApiError when the body does not fit the kind. */
export async function readObject(
  context: RequestContext,
  { kind, codec, release }: Pick<Resource, 'kind' | 'codec' | 'release'>,
  options: Pick<WriteOptions, 'fieldValidation'>,
): Promise<MutableObject> {
  const mediaType = requireObjectType(context)
  const body = await readBody(context)
  context.bodyBytes = body.length
  if (mediaType === 'application/vnd.kubernetes.protobuf') refuseWithoutMessage(release, body, kind)
  const size = mediaType === 'application/json' ? body.length : undefined
  if (size !== undefined) checkCommas(context, body)
  const object = codec.decode(body, {
    mediaType,
    fieldValidation: options.fieldValidation,
    warn: context.warn,
    check: (value) => checkBody(context, value, size),
  })
  context.auditRecord?.requestObject(object.metadata, () => codec.toClientForm(object))
  return object
}
