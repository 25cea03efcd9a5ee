// Server errors that are correct, because kube-apiserver responds with them as well.
import { parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { FuzzRequest, FuzzResponse } from './fuzz-request.ts'

/** Client errors for which kube-apiserver v1.35.8 also responds with 500. */
export const alsoInKubernetes: readonly RegExp[] = [
  /^(resourceVersion: Invalid value: .*: )?strconv\.ParseUint: parsing /s,
  /^resourceVersion should not be set on objects to be created$/,
  /^failed to create typed patch object \(/,
  // Malformed strategic merge patches.
  /^map: .* does not contain declared merge key: /s,
  /^list element types are not identical: /,
  /^no elements in any of the given slices$/,
  /^unable to find api field in struct /,
  /^unknown patch type: /,
  /^expected a (\[\]|map\[string\])interface \{\}, but received a (\w+|%!s\(<nil>\))/,
  /^merging lists cannot yet be specified in the patch$/,
  /^The order in patch list:\n/,
  // An apply of a value that the schema accepts and the Go type rejects, such as invalid base64.
  /^failed to convert new object \(/,
  // The schema of a CRD has changed since the object was stored.
  /^failed to create manager for existing fields: failed to convert new object \(.*\) to smd typed: /,
  /^target\.\w+: /,
  // Errors of custom resources.
  /^content is not a list$/,
  /^Internal error occurred: the spec replicas field ".*" does not exist$/,
  /^request to convert CR from an invalid group\/version: /,
  /^failed to create manager for existing fields: .*: request to convert CR to an invalid group\/version: autoscaling\/v1$/,
  /^Internal error occurred: Object 'apiVersion' is missing in /,
  /^merging an object in json but data type is not struct, instead is: /,
  /^unsupported role reference kind: /,
  // An admission plugin requests an object, such as a RuntimeClass, whose name cannot be in a path.
  /^resource name may not be empty$/,
  /^invalid resource name "/,
  // A proxied request to a node without a usable address.
  /^no preferred addresses found; known addresses: /,
]

/** The reasons for which a Service, pod or node cannot be reached through the proxy: 503 in kube-apiserver as well. */
export const unreachable =
  /^(no service port \S+ found for service |no endpoints available for service |error trying to reach service: )/

/** Text that appears when JavaScript formats an unsuitable value, and the request id of internal errors. */
export const formattingSlips = /\[object Object\]|\(request [0-9a-f]+\)/

/** Why a response is wrong; undefined if it is not. */
export function problemOf(request: FuzzRequest, response: FuzzResponse): string | undefined {
  const { status, body, type, error } = response
  if (type === 'unsent') return undefined
  if (status === 0) {
    // The listener resets streams with malformed headers, and Node rejects some responses to its own odd requests.
    return /REFUSED_STREAM|PROTOCOL_ERROR|INVALID_HTTP_TOKEN|ERR_INVALID/.test(error ?? '')
      ? undefined
      : `no response: ${error}`
  }
  const text = body.subarray(0, 100_000).toString()
  if (status >= 400 && formattingSlips.test(text)) return 'an unsuitable value was formatted'
  if (status < 500) return undefined
  return isExpected(request, status, text) ? undefined : 'unexpected server error'
}

function isExpected({ method, path }: FuzzRequest, status: number, text: string): boolean {
  // The response to a HEAD request has no body. The log contains internal errors.
  if (method === 'HEAD' || text === '') return true
  // Protobuf responses are not decoded here; the log contains internal errors.
  if (text.startsWith('k8s\0')) return true
  // An APIService whose server is unreachable.
  if (status === 503) return text === 'service unavailable\n' || text.includes('"ServiceUnavailable"')
  const message = messageOf(text)
  if (status === 504) {
    // A pod waits for its service account about as long as the shortest requested timeout.
    const isLate = message === 'Timeout: request did not complete within the allotted timeout'
    return message.startsWith('Timeout: Too large resource version: ') || (isLate && path.includes('timeout'))
  }
  return status === 500 && alsoInKubernetes.some((pattern) => pattern.test(message))
}

function messageOf(text: string): string {
  try {
    const status = text.startsWith('{') ? (JSON.parse(text) as unknown) : parseYaml(text)
    return isJsonObject(status) ? String(status['message'] ?? '') : ''
  } catch {
    // The end of a long response is cut off.
    return /"message":"((?:[^"\\]|\\.){0,200})/.exec(text)?.[1] ?? ''
  }
}
