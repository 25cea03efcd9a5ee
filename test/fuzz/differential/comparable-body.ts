import { isJsonObject } from '@kubewright/base'
import type { Normalizer } from '../../conformance/normalizer.ts'

/** The body with everything replaced that differs between two servers with the same behaviour. */
export function comparableBody(body: unknown, normalizer: Normalizer): unknown {
  const known = withoutTestGroups(withParsedEvents(body))
  return withoutRandomErrors(withoutVersions(normalizer.body(known, { unorderedErrors: true })))
}

/** The groups of deleted definitions stay in lists of groups and paths for a moment. */
function withoutTestGroups(body: unknown): unknown {
  if (!isJsonObject(body)) return body
  const { groups, paths } = body
  const isKept = (name: unknown): boolean => typeof name !== 'string' || !name.includes('.example.com')
  return {
    ...body,
    ...(Array.isArray(groups) ? { groups: groups.filter((one) => isKept(isJsonObject(one) ? one['name'] : one)) } : {}),
    ...(Array.isArray(paths) ? { paths: paths.filter(isKept) } : {}),
  }
}

/** A watch response with its events as values, whose members may be in any order. */
function withParsedEvents(body: unknown): unknown {
  if (!isJsonObject(body) || typeof body['$text'] !== 'string' || !body['$text'].startsWith('{"type":')) return body
  return { $events: body['$text'].trimEnd().split('\n').map(parsedEvent) }
}

function parsedEvent(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

/** YAML is compared as text, in which the normalizer does not find resource versions, page tokens and the server's address. */
function withoutVersions(body: unknown): unknown {
  if (!isJsonObject(body) || typeof body['$text'] !== 'string') return body
  const text = body['$text']
    .replace(/(resourceVersion: )"\d+"/g, '$1<rv>')
    .replace(/^( {2}continue: )\S+$/gm, '$1<continue>')
    .replace(/(serverAddress: )127\.0\.0\.1:\d+/g, '$1<address>')
  return { $text: text }
}

/**
 * Go iterates over maps in random order, so that kube-apiserver itself reports different errors for the same request. It stops at the
 * first undeclared field of an applied configuration, of which only the beginning of the message is comparable, and at the first
 * value of a Secret that is not base64. The authorizer lists role bindings, and so the roles that it misses, in any order.
 */
function withoutRandomErrors(body: unknown): unknown {
  if (!isJsonObject(body)) return body
  const { message, status, details } = body
  if (isJsonObject(status) && typeof status['reason'] === 'string') {
    return { ...body, status: { ...status, reason: withSortedRoles(status['reason']) } }
  }
  if (typeof message !== 'string') return body
  const [begin] = /^failed to create typed patch object \(.*?\): /.exec(message) ?? []
  if (begin !== undefined) return { ...body, message: begin }
  const text = message.replace(sourceFile, '$1')
  if (!badBase64.test(text)) return { ...body, message: text }
  const causes =
    isJsonObject(details) && Array.isArray(details['causes']) ? (details['causes'] as unknown[]) : undefined
  const cleaned = causes?.map((cause) =>
    isJsonObject(cause) ? { ...cause, message: String(cause['message']).replace(badBase64, '$1') } : cause,
  )
  return {
    ...body,
    message: text.replace(badBase64, '$1'),
    ...(cleaned ? { details: { ...(details as object), causes: cleaned } } : {}),
  }
}

/** How a message names a source file depends on how kube-apiserver was built. */
const sourceFile = /(in scheme \\?")k8s\.io\/[\w-]+\//g
const badBase64 = /(error decoding from json: illegal base64 data) at input byte \d+/

function withSortedRoles(reason: string): string {
  return reason.replace(/(RBAC: \[)(.*)(\])$/, (_, open: string, list: string, close: string) =>
    [open, list.split(', ').sort().join(', '), close].join(''),
  )
}
