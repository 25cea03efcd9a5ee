import { newUnsupportedMediaType } from '@kubewright/api'
import { isServed, type MediaType, servedTypes } from '../http/negotiate.ts'
import { refuseWithoutMessage } from '../protobuf/decode-object.ts'
import type { WriteOptions } from '../registry/request-options.ts'
import type { MutableObject, Resource } from '../registry/resource.ts'
import type { RequestContext } from '../request-context.ts'

/** The largest request body, as kube-apiserver's. */
export const maxBodyBytes: number = 3 * 1024 * 1024

/** The media type of the body without its parameters; JSON when the client does not say. */
export function mediaTypeOf(context: RequestContext): string {
  const header = context.request.headers['content-type'] ?? ''
  const type = header.split(';', 1)[0]!.trim().toLowerCase()
  return type === '' ? 'application/json' : type
}

/** Reads the object of a create or update, as the resource's type; strictness follows `fieldValidation`. */
export async function readObject(
  context: RequestContext,
  resource: Resource,
  options: Pick<WriteOptions, 'fieldValidation'>,
): Promise<MutableObject> {
  const mediaType = mediaTypeOf(context)
  if (!isServed(mediaType)) throw newUnsupportedMediaType(servedTypes)
  const body = await context.request.body(maxBodyBytes)
  if (mediaType === 'application/vnd.kubernetes.protobuf') refuseWithoutMessage(body, resource.kind)
  return resource.decode(body, { mediaType, fieldValidation: options.fieldValidation, warn: context.warn })
}

/** How a body is to be decoded. */
export interface DecodeRequest {
  readonly mediaType: MediaType
  readonly fieldValidation: WriteOptions['fieldValidation']
  readonly warn: (text: string) => void
}

const utf8 = new TextDecoder()

/** The text of a body. */
export function textOf(body: Uint8Array): string {
  return utf8.decode(body)
}
