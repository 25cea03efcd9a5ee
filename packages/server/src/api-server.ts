import { isApiError, newForbidden, newInternalError, newUnauthorized, type Status } from '@kubewright/api'
import { type Clock, type Logger, nullLogger, type Random, shortId, systemClock, systemRandom } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { AdmissionChain, type AdmissionPlugin } from './admission/admission.ts'
import { type Authenticator, anonymousUser } from './auth/authenticator.ts'
import type { Authorizer } from './auth/authorizer.ts'
import { StoreFeed } from './cache/store-feed.ts'
import type { ApiHandler, ApiRequest, ApiResponse } from './http/api-request.ts'
import { type RequestInfo, requestInfoOf } from './http/request-info.ts'
import { respondStatus, respondText } from './http/respond.ts'
import { ObjectRegistry } from './registry/object-registry.ts'
import { ResourceTable } from './registry/resource-table.ts'
import type { RequestContext, UserInfo } from './request-context.ts'
import { ResourceDispatcher } from './verbs/dispatch.ts'

/** Answers requests that are about no resource, such as health and discovery; undefined passes the request on. */
export type PathHandler = (context: RequestContext) => Promise<ApiResponse | undefined>

/** What {@link createApiServer} takes. */
export interface ApiServerOptions {
  readonly store: Store
  /** Tried in order; the first that knows the credentials decides. */
  readonly authenticators: readonly Authenticator[]
  readonly authorizer: Authorizer
  readonly admission?: readonly AdmissionPlugin[]
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** Sets up what is served, once the parts exist and before the first request. */
  readonly setup?: (server: ServerParts) => Promise<void>
}

/** The parts of a server, for those that add to it. */
export interface ServerParts {
  readonly resources: ResourceTable
  readonly registry: ObjectRegistry
  readonly dispatcher: ResourceDispatcher
  readonly paths: PathHandler[]
  readonly admission: AdmissionPlugin[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** A running API server without a listener: call its handler, or put one in front. */
export interface ApiServer extends AsyncDisposable {
  readonly handler: ApiHandler
  readonly parts: ServerParts
}

/** Starts an API server on a store. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock = systemClock, random = systemRandom, log = nullLogger } = options
  const feed = new StoreFeed(store, clock, log)
  await feed.start()
  const registry = new ObjectRegistry({ store, feed, clock, random })
  const resources = new ResourceTable()
  const admission: AdmissionPlugin[] = [...(options.admission ?? [])]
  const dispatcher = new ResourceDispatcher(registry, resources, new AdmissionChain(admission))
  const parts: ServerParts = { resources, registry, dispatcher, paths: [], admission, clock, random, log }
  await options.setup?.(parts)
  const handler = new RequestHandler(options, parts)
  return {
    handler: (request) => handler.handle(request),
    parts,
    [Symbol.asyncDispose]: () => feed[Symbol.asyncDispose](),
  }
}

class RequestHandler {
  readonly #options: ApiServerOptions
  readonly #parts: ServerParts

  constructor(options: ApiServerOptions, parts: ServerParts) {
    this.#options = options
    this.#parts = parts
  }

  /** Never rejects: whatever goes wrong becomes an answer. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const warnings: string[] = []
    const auditId = shortId(this.#parts.random)
    let response: ApiResponse
    try {
      response = await this.#answer(request, warnings)
    } catch (error) {
      response = respondStatus(this.#statusOf(error, request, auditId))
    }
    const headers: Record<string, string | readonly string[]> = { 'audit-id': auditId, ...response.headers }
    if (warnings.length > 0) headers['warning'] = warnings.map(warningHeader)
    return { ...response, headers }
  }

  async #answer(request: ApiRequest, warnings: string[]): Promise<ApiResponse> {
    let info: RequestInfo
    try {
      info = requestInfoOf(request.method, request.path, request.query)
    } catch {
      return respondText(400, 'Bad Request')
    }
    const user = await this.#authenticate(request)
    const context: RequestContext = {
      request,
      info,
      user,
      receivedAt: this.#parts.clock.now(),
      warnings,
      warn: (text) => {
        if (!warnings.includes(text)) warnings.push(text)
      },
      audit: new Map(),
    }
    await this.#authorize(context)
    for (const path of this.#parts.paths) {
      const response = await path(context)
      if (response) return response
    }
    if (info.isResource) return this.#parts.dispatcher.dispatch(context)
    return respondText(404, '404 page not found\n')
  }

  async #authenticate(request: ApiRequest): Promise<UserInfo> {
    for (const authenticate of this.#options.authenticators) {
      const user = await authenticate(request)
      if (user) return user
    }
    if (request.headers['authorization'] !== undefined) throw newUnauthorized('Unauthorized')
    return anonymousUser
  }

  async #authorize({ user, info }: RequestContext): Promise<void> {
    const decision = await this.#options.authorizer.authorize({
      user,
      verb: info.verb,
      isResource: info.isResource,
      group: info.group,
      version: info.version,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
      path: info.path,
    })
    if (decision.allowed) return
    if (!info.isResource) {
      throw newForbidden(
        { group: '', resource: '' },
        '',
        `User ${JSON.stringify(user.name)} cannot ${info.verb} path ${JSON.stringify(info.path)}`,
      )
    }
    const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
    const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(info.namespace)}`
    const why = `User ${JSON.stringify(user.name)} cannot ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)} ${where}`
    throw newForbidden(
      { group: info.group, resource },
      info.name,
      decision.reason === '' ? why : `${why}: ${decision.reason}`,
    )
  }

  /** What a failure becomes for the client; one that is nobody's fault but ours is logged with the id that the client gets. */
  #statusOf(error: unknown, request: ApiRequest, auditId: string): Status {
    if (isApiError(error)) return error.status
    this.#parts.log.error(error, 'Request failed', { method: request.method, path: request.path, auditId })
    const text = error instanceof Error ? error.message : String(error)
    return newInternalError(new Error(`${text} (request ${auditId})`)).status
  }
}

/** RFC 7234: code, agent and the quoted text. */
function warningHeader(text: string): string {
  return `299 - "${text.replace(/["\\]/g, '\\$&').replace(/[\u0000-\u001f\u007f]/g, ' ')}"`
}
