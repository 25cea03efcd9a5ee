import { isApiError, newBadRequest, newInternalError, type Status } from '@kubewright/api'
import {
  type Clock,
  errorText,
  type Logger,
  nullLogger,
  parseDuration,
  type Random,
  shortId,
  systemClock,
  systemRandom,
} from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { AdmissionChain, type AdmissionPlugin } from './admission/admission.ts'
import { authenticate } from './auth/authenticate.ts'
import type { Authenticator } from './auth/authenticator.ts'
import { type Authorizer, attributesOf } from './auth/authorizer.ts'
import { forbiddenError } from './auth/forbidden-error.ts'
import { impersonate } from './auth/impersonation.ts'
import { StoreFeed } from './cache/store-feed.ts'
import { ObjectRegistry } from './registry/object-registry.ts'
import type { ApiHandler, ApiRequest, ApiResponse } from './request/api-request.ts'
import { negotiateError } from './request/negotiate.ts'
import type { RequestContext } from './request/request-context.ts'
import { type RequestInfo, requestInfoOf } from './request/request-info.ts'
import { respondStatus, respondText } from './request/respond.ts'
import { warningHeaders } from './request/warning-headers.ts'
import { ResourceTable } from './resource/resource-table.ts'
import { ResourceDispatcher } from './verbs/dispatch.ts'

/** Answers requests that are about no resource, such as health and discovery; undefined passes the request on. */
export type PathHandler = (context: RequestContext) => Promise<ApiResponse | undefined>

/** Stands between authentication and everything behind it, for every request: may answer itself, or wrap what `next` gives or throws. */
export type RequestFilter = (context: RequestContext, next: () => Promise<ApiResponse>) => Promise<ApiResponse>

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
  /** The first is the outermost. */
  readonly filters: RequestFilter[]
  readonly admission: AdmissionPlugin[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborted when the server is disposed: for what runs beside requests. */
  readonly signal: AbortSignal
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
  const stop = new AbortController()
  const { signal } = stop
  const parts: ServerParts = {
    resources,
    registry,
    dispatcher,
    paths: [],
    filters: [],
    admission,
    clock,
    random,
    log,
    signal,
  }
  const dispose = async (): Promise<void> => {
    stop.abort()
    await feed[Symbol.asyncDispose]()
  }
  try {
    await options.setup?.(parts)
    await followAll(resources, feed)
  } catch (error) {
    // Nobody else could stop it.
    await dispose()
    throw error
  }
  const handler = new RequestHandler(options, parts)
  return { handler: (request) => handler.handle(request), parts, [Symbol.asyncDispose]: dispose }
}

/** Has the cache of every resource from the start, so that a watch can go on from any version that this server has given out. */
async function followAll(resources: ResourceTable, feed: StoreFeed): Promise<void> {
  const follow = async (): Promise<void> => {
    const prefixes = new Set(resources.all().map(({ storage }) => storage.prefix))
    await Promise.all([...prefixes].map((prefix) => feed.cache(prefix)))
  }
  // A cache that cannot be filled now is tried again when it is needed.
  resources.onChange(() => void follow().catch(() => undefined))
  await follow()
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
      response = await this.#answer(request, warnings, auditId)
    } catch (error) {
      response = respondStatus(this.#statusOf(error, request, auditId), negotiateError(request))
    }
    const headers: Record<string, string | readonly string[]> = { 'audit-id': auditId, ...response.headers }
    if (warnings.length > 0) headers['warning'] = warningHeaders(warnings)
    return { ...response, headers }
  }

  async #answer(request: ApiRequest, warnings: string[], auditId: string): Promise<ApiResponse> {
    let info: RequestInfo
    try {
      info = requestInfoOf(request.method, request.path, request.query)
    } catch {
      return respondText(400, 'Bad Request')
    }
    if (info.verb !== 'watch') checkTimeout(request.query)
    const warn = (text: string): void => {
      if (!warnings.includes(text)) warnings.push(text)
    }
    const client = await authenticate(this.#options.authenticators, request, warn)
    const user = await impersonate(request, client, this.#options.authorizer)
    const context: RequestContext = {
      request,
      info,
      user,
      receivedAt: this.#parts.clock.now(),
      warnings,
      warn,
      audit: new Map(),
      auditId,
      authorize: (verb) => this.#authorize({ ...context, info: { ...info, verb } }),
    }
    const { filters } = this.#parts
    const from = (index: number): Promise<ApiResponse> => {
      const filter = filters[index]
      return filter ? filter(context, () => from(index + 1)) : this.#serve(context)
    }
    return from(0)
  }

  async #serve(context: RequestContext): Promise<ApiResponse> {
    await this.#authorize(context)
    for (const path of this.#parts.paths) {
      const response = await path(context)
      if (response) return response
    }
    if (context.info.isResource) return this.#parts.dispatcher.dispatch(context)
    return respondText(404, '404 page not found\n')
  }

  async #authorize({ user, info, request }: RequestContext): Promise<void> {
    const attributes = attributesOf(user, info, request.query)
    const decision = await this.#options.authorizer.authorize(attributes)
    if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
  }

  /** What a failure becomes for the client; one that is nobody's fault but ours is logged with the id that the client gets. */
  #statusOf(error: unknown, request: ApiRequest, auditId: string): Status {
    if (isApiError(error)) return error.status
    // Only what a client sent is ever nested that deep.
    if (error instanceof RangeError && error.message.includes('call stack')) {
      return newBadRequest('the object is nested too deep').status
    }
    this.#parts.log.error(error, 'Request failed', { method: request.method, path: request.path, auditId })
    const text = errorText(error)
    return newInternalError(new Error(`${text} (request ${auditId})`)).status
  }
}

/** A deadline that the client sets must be one, even though nothing here takes long enough to miss it. */
function checkTimeout(query: URLSearchParams): void {
  const timeout = query.get('timeout')
  if (!timeout) return
  try {
    parseDuration(timeout)
  } catch (error) {
    throw newBadRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}
