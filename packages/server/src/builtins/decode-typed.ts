import { type AnyKind, isApiError, newBadRequest } from '@kubewright/api'
import type { WriteOptions } from '../registry/request-options.ts'
import type { MutableObject, Strategy } from '../registry/resource.ts'
import { type DecodeRequest, parseBody } from '../verbs/read-body.ts'

/** Decodes a body into a built-in kind: unknown fields are dropped, kind and apiVersion may be left out, defaults are filled. */
export function decodeTyped(
  kind: AnyKind,
  strategy: Strategy,
  body: Uint8Array,
  request: DecodeRequest,
): MutableObject {
  let value: unknown
  try {
    value = parseBody(body, request, kind.schema)
  } catch (error) {
    if (isApiError(error)) throw error
    throw newBadRequest(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  return complete(kind, strategy, value)
}

/** Treats the result of a patch as a decoded body. */
export function recheckTyped(
  kind: AnyKind,
  strategy: Strategy,
  object: MutableObject,
  _options: Pick<WriteOptions, 'fieldValidation'>,
  _warn: (text: string) => void,
): MutableObject {
  return complete(kind, strategy, object)
}

function complete(kind: AnyKind, strategy: Strategy, value: unknown): MutableObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw newBadRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeOf(value)} into Go value of type struct`,
    )
  }
  const object = value as MutableObject
  object.apiVersion ||= kind.apiVersion
  object.kind ||= kind.kind
  object.metadata ??= {}
  strategy.setDefaults?.(object)
  return object
}

function goTypeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value
}
