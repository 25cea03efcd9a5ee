import type { AnyKind } from '@kubewright/api'
import type { TransportRequest } from '@kubewright/client'

/** The verbs of requests, as in RBAC rules. */
export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Selects requests. All given fields must match. */
export interface RequestMatch {
  /** One verb or several. @default every verb */
  readonly verb?: RequestVerb | readonly RequestVerb[] | undefined
  /** @default every kind */
  readonly kind?: AnyKind | undefined
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  /** A subresource such as `status`, or `''` for the object itself. @default both */
  readonly subresource?: string | undefined
}

/** The parts of a request for a resource. */
interface RequestFacts {
  readonly verb: RequestVerb
  readonly group: string
  readonly plural: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** Whether a request is selected. Requests that do not concern a resource never are. */
export function matchesRequest(match: RequestMatch, request: TransportRequest): boolean {
  const facts = requestFacts(request)
  if (facts === undefined) return false
  const { verb, kind, name, namespace, subresource } = match
  if (verb !== undefined && !(typeof verb === 'string' ? [verb] : verb).includes(facts.verb)) return false
  if (kind !== undefined && (kind.group !== facts.group || kind.plural !== facts.plural)) return false
  return (
    (name === undefined || name === (facts.name === '' ? nameInBody(request) : facts.name)) &&
    (namespace === undefined || namespace === facts.namespace) &&
    (subresource === undefined || subresource === facts.subresource)
  )
}

function requestFacts({ method, path }: TransportRequest): RequestFacts | undefined {
  const url = new URL(path, 'http://server')
  const [root, ...segments] = url.pathname.split('/').filter(Boolean).map(decodeURIComponent)
  if (root !== 'api' && root !== 'apis') return undefined
  const group = root === 'api' ? '' : (segments.shift() ?? '')
  const [, ...target] = segments
  // "namespaces/a/pods" is in a namespace, whereas "namespaces/a" and "namespaces/a/status" are Namespaces.
  const isNamespaced = target[0] === 'namespaces' && target.length > 2 && !namespaceParts.has(target[2]!)
  const [, namespace = ''] = isNamespaced ? target.splice(0, 2) : []
  const [plural, name = '', ...rest] = target
  if (plural === undefined) return undefined
  const isWatch = ['1', 'true'].includes(url.searchParams.get('watch') ?? '')
  const verb = verbOf(method, name, isWatch)
  return verb && { verb, group, plural, namespace, name, subresource: rest.join('/') }
}

const namespaceParts = new Set(['status', 'finalize'])

function verbOf(method: string, name: string, isWatch: boolean): RequestVerb | undefined {
  switch (method) {
    case 'GET':
      return isWatch ? 'watch' : name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
  }
  return undefined
}

/** The name of the object that a request creates. */
function nameInBody({ method, body }: TransportRequest): string | undefined {
  if (method !== 'POST' || body === undefined) return undefined
  try {
    return (JSON.parse(Buffer.from(body).toString()) as { metadata?: { name?: string | undefined } | undefined })
      .metadata?.name
  } catch {
    return undefined
  }
}
