/** What a request is about, read from its method and path alone. */
export interface RequestInfo {
  /** True below /api/<version> and /apis/<group>/<version>. */
  readonly isResource: boolean
  /** The path, percent-decoded. */
  readonly path: string
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy; the lower-case method for other paths. */
  readonly verb: string
  readonly group: string
  readonly version: string
  /** Empty for cluster-scoped requests, except that namespaces belong to themselves. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Everything behind the resource: resource, name, subresource and what follows. */
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

/** Reads a path as apiserver/pkg/endpoints/request/requestinfo.go does. Throws URIError for a path that cannot be decoded. */
export function requestInfoOf(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = rawPath.includes('%') ? decodeURIComponent(rawPath) : rawPath
  // Split after decoding, as the real server does: an encoded slash separates.
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
  if (rest[0] === 'namespaces') {
    if (rest.length > 1) {
      namespace = rest[1]!
      // /namespaces/x/status is about the namespace; /namespaces/x/pods is about pods.
      if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2)
    }
  }
  const [resource = '', name = '', below = ''] = rest
  const subresource = verb === 'proxy' ? '' : below
  if (verb === 'get' && name === '') verb = isTrue(query.get('watch')) ? 'watch' : 'list'
  if (verb === 'delete' && name === '') verb = 'deletecollection'
  return { isResource: true, path, verb, group, version, namespace, resource, subresource, name, parts: rest }
}

/** A request that is about no resource. */
function plainInfo(method: string, path: string): RequestInfo {
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

/** Query booleans as apimachinery's conversion reads them: present and neither "false", in letters of any case, nor "0". */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}
