import { type ApiResponse, encodeJson, encodeYaml, type Status } from '@kubewright/api'
import { encodeProtobuf } from '../codec/protobuf/envelope.ts'
import type { Representation } from './negotiate.ts'

const plainJson: Representation = { mediaType: 'application/json', pretty: false }
const newline = Buffer.from('\n')

/** Answers with any JSON value in the representation asked for. */
export function respond(status: number, value: unknown, representation: Representation = plainJson): ApiResponse {
  if (representation.mediaType === 'application/yaml') {
    return bytesResponse(status, Buffer.from(encodeYaml(value)), 'application/yaml')
  }
  if (representation.mediaType === 'application/vnd.kubernetes.protobuf') {
    return bytesResponse(status, encodeProtobuf(value), representation.mediaType)
  }
  const text = encodeJson(value, representation.pretty ? { indent: '  ' } : {})
  return bytesResponse(status, Buffer.from(`${text}\n`), 'application/json')
}

/** Answers with bytes that are already the JSON of an object: nothing is parsed or encoded unless the client wants another form. */
export function respondBytes(status: number, json: Buffer, representation: Representation): ApiResponse {
  if (representation.mediaType === 'application/json' && !representation.pretty) {
    const ended = json[json.length - 1] === 0x0a
    return bytesResponse(status, ended ? json : Buffer.concat([json, newline]), 'application/json')
  }
  return respond(status, JSON.parse(json.toString()), representation)
}

/** Answers with a Status, under its own code. */
export function respondStatus(status: Status, representation: Representation = plainJson): ApiResponse {
  const response = respond(status.code ?? 500, status, representation)
  const seconds = status.details?.retryAfterSeconds ?? 0
  return seconds > 0 ? { ...response, headers: { ...response.headers, 'retry-after': String(seconds) } } : response
}

/** Answers with text. */
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
