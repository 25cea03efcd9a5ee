import type { RequestContext } from '../request/request-context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { Resource } from '../resource/resource.ts'
import { authenticatedGroup, mastersGroup } from './authenticator.ts'

/** The context of a write that the server makes on its own behalf: allowed everything, and recorded under the manager's name. */
export function systemContext(
  resource: Resource,
  options: {
    readonly manager: string
    readonly namespace: string
    readonly name: string
    readonly verb: string
    readonly now: number
  },
): RequestContext {
  const { group, version, plural } = resource.kind
  const info: RequestInfo = {
    isResource: true,
    path: '',
    verb: options.verb,
    group,
    version,
    namespace: options.namespace,
    resource: plural,
    subresource: '',
    name: options.name,
    parts: [plural, options.name],
  }
  return {
    request: {
      method: options.verb === 'create' ? 'POST' : 'PUT',
      path: '',
      query: new URLSearchParams(),
      headers: { 'user-agent': options.manager },
      body: async () => new Uint8Array(),
      signal: never,
      peer: { address: '' },
    },
    info,
    user: { name: 'system:apiserver', groups: [mastersGroup, authenticatedGroup] },
    receivedAt: options.now,
    warn: () => undefined,
    warnings: [],
    audit: new Map(),
  }
}

/** Nobody gives up on the server's own requests. */
const never = new AbortController().signal
