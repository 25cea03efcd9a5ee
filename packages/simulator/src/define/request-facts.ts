import type { TransportRequest } from '@kubewright/client'

/** The parts of a request that faults and stories refer to. */
export interface RequestFacts {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'other'
  readonly group: string
  readonly plural: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly query: string
}

const verbs: Readonly<Record<string, 'create' | 'update' | 'patch'>> = { POST: 'create', PUT: 'update', PATCH: 'patch' }

/** Parses a request. Requests that do not concern a resource, such as discovery, have the verb `other`. */
export function factsOf({ method, path }: TransportRequest): RequestFacts {
  const at = path.indexOf('?')
  const query = at < 0 ? '' : path.slice(at + 1)
  const [root, ...segments] = (at < 0 ? path : path.slice(0, at)).split('/').filter(Boolean)
  const none: RequestFacts = { verb: 'other', group: '', plural: '', namespace: '', name: '', subresource: '', query }
  if (root !== 'api' && root !== 'apis') return none
  const group = root === 'api' ? '' : (segments.shift() ?? '')
  segments.shift()
  const isNamespaced = segments[0] === 'namespaces' && segments.length > 2 && !/^(status|finalize)$/.test(segments[2]!)
  const [, namespace = ''] = isNamespaced ? segments.splice(0, 2) : []
  const [plural, name = '', ...rest] = segments
  if (plural === undefined) return none
  const facts = { group, plural, namespace, name: decodeURIComponent(name), subresource: rest.join('/'), query }
  if (method === 'GET') return { ...facts, verb: isWatch(query) ? 'watch' : name === '' ? 'list' : 'get' }
  if (method === 'DELETE') return { ...facts, verb: name === '' ? 'deletecollection' : 'delete' }
  return { ...facts, verb: verbs[method] ?? 'other' }
}

const isWatch = (query: string): boolean => /(^|&)watch=(true|1)(&|$)/.test(query)

/** Whether a request changes objects. */
export const isWrite = ({ verb }: RequestFacts): boolean =>
  verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete' || verb === 'deletecollection'

/** Whether a request belongs to the machinery of a process rather than to its work. */
export const isBackground = ({ verb, plural }: RequestFacts): boolean =>
  verb === 'watch' || verb === 'other' || plural === 'events' || plural === 'leases'

/** Describes a request: `patch deployments default/web`. */
export function requestText({ verb, plural, namespace, name, subresource }: RequestFacts): string {
  const place = [namespace, name].filter(Boolean).join('/')
  return `${verb} ${plural}${subresource === '' ? '' : `/${subresource}`}${place === '' ? '' : ` ${place}`}`
}
