/** The verb and the object of a request, read from its method and path alone. */
export interface RequestInfo {
  /** True below /api/<version> and /apis/<group>/<version>. */
  readonly isResource: boolean
  /** The path, percent-decoded. */
  readonly path: string
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy; the lower-case method for other paths. */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** Empty for cluster-scoped requests. A request for a namespace has that namespace. */
  readonly namespace: string
  /** Whether the path has an empty segment in place of a namespace. The routes of namespaces match such a path. */
  readonly emptyNamespace?: boolean | undefined
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The segments from the resource on: resource, name, subresource and everything after it. */
  readonly parts: readonly string[]
}

const slash = 0x2f
const namespaceSubresources = new Set(['status', 'finalize'])
const verbs: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** Parses a path as apiserver/pkg/endpoints/request/requestinfo.go does. Throws a URIError for an invalid percent encoding. */
export function requestInfoOf(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = rawPath.includes('%') ? decodeURIComponent(rawPath) : rawPath
  // Split after decoding, as in kube-apiserver: an encoded slash separates segments too.
  const parts = withoutOuterSlashes(path).split('/')
  if (parts.length < 3 || (parts[0] !== 'api' && parts[0] !== 'apis')) return plainInfo(method, path)
  const legacy = parts[0] === 'api'
  if (!legacy && parts.length < 4) return plainInfo(method, path)
  const group = legacy ? '' : parts[1]!
  const version = parts[legacy ? 1 : 2]!
  let rest = parts.slice(legacy ? 2 : 3)

  let verb = verbs.get(method) ?? ''
  if (rest[0] === 'watch' || rest[0] === 'proxy') {
    if (rest.length < 2) return plainInfo(method, path)
    verb = rest[0]
    rest = rest.slice(1)
  }

  let namespace = ''
  let hasNamespace = false
  if (rest[0] === 'namespaces') {
    if (rest.length > 1) {
      namespace = rest[1]!
      hasNamespace = true
      // /namespaces/x/status is about the namespace; /namespaces/x/pods is about pods.
      if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2)
    }
  }
  const [resource = '', name = '', below = ''] = rest
  const subresource = verb === 'proxy' ? '' : below
  if (verb === 'get' && name === '') verb = isTrue(query.get('watch')) ? 'watch' : 'list'
  if (verb === 'delete' && name === '') verb = 'deletecollection'
  const info = { isResource: true, path, verb, group, version, namespace, resource, subresource, name, parts: rest }
  return namespace === '' && hasNamespace ? { ...info, emptyNamespace: true } : info
}

/** The info of a path that belongs to no resource. */
export function plainInfo(method: string, path: string): RequestInfo {
  return {
    isResource: false,
    path,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
  }
}

function withoutOuterSlashes(path: string): string {
  let [start, end] = [0, path.length]
  while (start < end && path.charCodeAt(start) === slash) start++
  while (end > start && path.charCodeAt(end - 1) === slash) end--
  return path.slice(start, end)
}

/** A boolean of the query, as apimachinery's conversion reads it: every value but "0" and "false" in any case is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}
