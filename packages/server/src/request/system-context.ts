import type { KindFacts } from '@kubewright/api'
import { allowEverything, type RequestContext } from './request-context.ts'
import type { RequestInfo } from './request-info.ts'
import { authenticatedGroup, mastersGroup } from './user-info.ts'

/** The object of a request that the server makes on its own behalf, and the field manager it is recorded under. */
export interface SystemRequest {
  readonly manager: string
  readonly namespace: string
  readonly name: string
  readonly verb: string
  readonly now: number
}

/**
 * The context of a write that the server makes on its own behalf: every verb is allowed, warnings are dropped, and managed fields are
 * recorded under the manager's name.
 */
export function systemContext(
  resource: { readonly kind: Pick<KindFacts, 'group' | 'version' | 'plural'> },
  options: SystemRequest,
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
      signal: neverAborted,
      peer: { address: '' },
    },
    info,
    user: { name: 'system:apiserver', groups: [mastersGroup, authenticatedGroup] },
    receivedAt: options.now,
    authorize: allowEverything,
    warn: () => undefined,
    warnings: [],
    audit: new Map(),
    responseHeaders: {},
  }
}

/** The server never cancels its own requests. */
const neverAborted = new AbortController().signal
