import { type ApiResponse, encodeJson, encodeYaml, type Status } from '@kubewright/api'
import { encodeProtobuf } from '../codec/protobuf/envelope.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { Representation } from './negotiate.ts'

const plainJson: Representation = { mediaType: 'application/json', pretty: false, types: defaultServedRelease }
const newline = Buffer.from('\n')

/** The objects that protobuf bodies of responses were encoded from, by body: the audit log needs them as JSON. */
export const protobufSource: WeakMap<Uint8Array, unknown> = new WeakMap()

/** A response with a JSON value, encoded in the negotiated representation. */
export function respond(status: number, value: unknown, representation: Representation = plainJson): ApiResponse {
  if (representation.mediaType === 'application/yaml') {
    return bytesResponse(status, Buffer.from(encodeYaml(value)), 'application/yaml')
  }
  if (representation.mediaType === 'application/vnd.kubernetes.protobuf') {
    return respondProtobuf(status, encodeProtobuf(representation.types, value), value)
  }
  const text = encodeJson(value, representation.pretty ? { indent: '  ' } : {})
  return bytesResponse(status, Buffer.from(`${text}\n`), 'application/json')
}

/** A response with the protobuf form of a value. */
export function respondProtobuf(status: number, body: Buffer, value: unknown): ApiResponse {
  protobufSource.set(body, value)
  return bytesResponse(status, body, 'application/vnd.kubernetes.protobuf')
}

/** A response with bytes that are JSON already. They are sent unchanged unless the client wants YAML, protobuf or indentation. */
export function respondBytes(status: number, json: Buffer, representation: Representation): ApiResponse {
  if (representation.mediaType === 'application/json' && !representation.pretty) {
    const ended = json[json.length - 1] === 0x0a
    return bytesResponse(status, ended ? json : Buffer.concat([json, newline]), 'application/json')
  }
  return respond(status, JSON.parse(json.toString()), representation)
}

/** A response with a Status and its code. */
export function respondStatus(status: Status, representation: Representation = plainJson): ApiResponse {
  const response = respond(status.code ?? 500, status, representation)
  const seconds = status.details?.retryAfterSeconds ?? 0
  return seconds > 0 ? { ...response, headers: { ...response.headers, 'retry-after': String(seconds) } } : response
}

/** A response with text. */
export function respondText(status: number, text: string, contentType = 'text/plain; charset=utf-8'): ApiResponse {
  return bytesResponse(status, Buffer.from(text), contentType)
}

function bytesResponse(status: number, body: Buffer, contentType: string): ApiResponse {
  return {
    status,
    headers: {
      'content-type': contentType,
      'content-length': String(body.length),
      'cache-control': 'no-cache, private',
    },
    body,
  }
}
