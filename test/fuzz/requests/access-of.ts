import type { FuzzRequest } from './fuzz-request.ts'

/** The `spec` of a SubjectAccessReview, without the user. */
export type AccessAttributes =
  | { readonly resourceAttributes: Readonly<Record<string, string>> }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/**
 * The access that a request needs, derived from the documented form of Kubernetes paths and independent of the server's
 * own parser. Undefined when the path has no unique meaning.
 */
export function accessOf({ method, path: target }: FuzzRequest): AccessAttributes | undefined {
  const [raw = '', search = ''] = splitOnce(target, '?')
  let path: string
  try {
    path = decodeURIComponent(raw)
  } catch {
    return undefined
  }
  const query = new URLSearchParams(search)
  const plain = { nonResourceAttributes: { path, verb: method.toLowerCase() } }
  const parts = path.replace(/^\/+|\/+$/g, '').split('/')
  const root = parts.shift()
  if (root !== 'api' && root !== 'apis') return plain
  const group = root === 'api' ? '' : (parts.shift() ?? '')
  const version = parts.shift()
  if (version === undefined || parts.length === 0) return plain
  let verb = verbs[method] ?? ''
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length === 1) return plain
    verb = parts.shift()!
  }
  let namespace = ''
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!
    if (parts.length > 2 && parts[2] !== 'status' && parts[2] !== 'finalize') parts.splice(0, 2)
  }
  const [resource = '', inPath = '', subresource = ''] = parts
  const watch = query.get('watch')
  if (verb === 'get' && inPath === '')
    verb = watch !== null && watch !== '0' && watch.toLowerCase() !== 'false' ? 'watch' : 'list'
  if (verb === 'delete' && inPath === '') verb = 'deletecollection'
  // A collection that a field selector restricts to one name is authorized as that object.
  const selected = /^metadata\.name==?([^,=!\\]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] ?? ''
  const isCollection = verb === 'list' || verb === 'watch' || verb === 'deletecollection'
  const name = inPath === '' && isCollection ? selected : inPath
  return {
    resourceAttributes: {
      verb,
      group,
      version,
      namespace,
      resource,
      name,
      subresource: verb === 'proxy' ? '' : subresource,
    },
  }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
