import { type ApiError, newBadRequest } from '@kubewright/api'
import { decodeMessage, type Envelope, openEnvelope } from './envelope.ts'
import type { ProtobufTypes } from './protobuf-types.ts'

/** The kind that an endpoint expects; used when the body does not declare one. */
export interface ExpectedKind {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * Decodes a protobuf body to JSON. Throws ProtobufError when the envelope is invalid, and ApiError BadRequest when the object is
 * malformed. An object of a kind without protobuf form is returned with its type only; the caller must reject it.
 */
export function decodeObject(types: ProtobufTypes, body: Uint8Array, expected: ExpectedKind): Record<string, unknown> {
  const { apiVersion, kind, message } = opened(body, expected)
  const found = types.messages.find(apiVersion, kind)
  if (!found || found.list) return { apiVersion, kind }
  try {
    return { apiVersion, kind, ...decodeMessage(types, found.type, message) }
  } catch (error) {
    throw unhandled(apiVersion, kind, expected, (error as Error).message)
  }
}

/** Rejects a protobuf body when the expected kind has no protobuf form, such as custom resources. */
export function refuseWithoutMessage(types: ProtobufTypes, body: Uint8Array, expected: ExpectedKind): void {
  if (types.messages.find(expected.apiVersion, expected.kind)) return
  let envelope: Envelope
  try {
    envelope = opened(body, expected)
  } catch (error) {
    throw newBadRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${(error as Error).message}`,
    )
  }
  const why =
    'object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message'
  throw unhandled(envelope.apiVersion, envelope.kind, expected, why)
}

function opened(body: Uint8Array, expected: ExpectedKind): Envelope {
  const { apiVersion, kind, message } = openEnvelope(body)
  // As in apimachinery/pkg/runtime/serializer/protobuf, an apiVersion that is not a group and a version counts as absent.
  const isKnown = apiVersion !== '' && apiVersion.split('/').length <= 2
  return { apiVersion: isKnown ? apiVersion : expected.apiVersion, kind: kind || expected.kind, message }
}

function unhandled(apiVersion: string, kind: string, expected: ExpectedKind, why: string): ApiError {
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1)
  return newBadRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${why}`)
}
