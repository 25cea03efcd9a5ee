import { newBadRequest, parseGroupVersion } from '@kubewright/api'
import { decodeMessage, openEnvelope } from './envelope.ts'
import { messageType } from './message-type.ts'

/** What an endpoint takes: stands for what a body does not say. */
export interface ExpectedKind {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * Decodes a body into the JSON of the object in it. Throws ProtobufError when there is no envelope, and ApiError BadRequest when the
 * object in it is malformed. An object of a kind that has no message comes back with its type only, for the caller to refuse.
 */
export function decodeObject(body: Uint8Array, expected: ExpectedKind): Record<string, unknown> {
  const envelope = openEnvelope(body)
  const apiVersion = envelope.apiVersion || expected.apiVersion
  const kind = envelope.kind || expected.kind
  const found = messageType(apiVersion, kind)
  if (!found || found.list) return { apiVersion, kind }
  try {
    return { apiVersion, kind, ...decodeMessage(found.type, envelope.message) }
  } catch (error) {
    const { version } = parseGroupVersion(apiVersion)
    const why = (error as Error).message
    throw newBadRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${why}`)
  }
}
