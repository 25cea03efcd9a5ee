import type { ApiHandler } from '@kubewright/api'
import { append, type Clock, type Logger, nullLogger, type Random, systemClock, systemRandom } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { AdmissionChain, type AdmissionPlugin } from './admission/admission.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { Authorizer } from './auth/authorizer.ts'
import { StoreFeed } from './cache/store-feed.ts'
import type { WindowLimits } from './cache/window-budget.ts'
import type { ServedRelease } from './codec/served-release.ts'
import type { Auditor } from './http/audit/auditor.ts'
import { RequestHandler } from './http/request-handler.ts'
import { ObjectRegistry } from './registry/object-registry.ts'
import type { PathHandler } from './request/path-handler.ts'
import type { RequestFilter } from './request/request-filter.ts'
import { ResourceTable } from './resource/resource-table.ts'
import { ResourceDispatcher } from './verbs/dispatch.ts'
import { SystemWriter } from './verbs/write/system-writer.ts'

/** Options of {@link createApiServer}. */
export interface ApiServerOptions {
  readonly store: Store
  /** Tried in order; the first one that accepts a credential determines the user. */
  readonly authenticators: readonly Authenticator[]
  /** Whether a request without credentials for this path is served. @default all are */
  readonly allowsAnonymous?: ((path: string) => boolean) | undefined
  readonly authorizer: Authorizer
  /** The release of Kubernetes that the server serves. @default that of the package `k8s` */
  readonly release?: ServedRelease | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
  /** Limits the memory of the watch caches. */
  readonly windows?: WindowLimits | undefined
  /** Registers resources and returns the extensions. Runs once, before the first request. */
  readonly setup?: ((parts: ServerParts) => Promise<ServerExtensions | undefined>) | undefined
}

/**
 * The parts that every server has, for the code that wires a server. Rooms do not import this type: each declares the parts that it
 * needs.
 */
export interface ServerParts {
  readonly resources: ResourceTable
  readonly registry: ObjectRegistry
  /** Runs the plugins that `setup` returns. */
  readonly admission: AdmissionChain
  /** Writes objects on behalf of the server. */
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server is disposed. */
  readonly signal: AbortSignal
  /** Aborts when the server is about to stop: /readyz fails, and requests are still served. */
  readonly draining: AbortSignal
}

/** Everything that a server has besides resources. */
export interface ServerExtensions {
  /** Run in this order. */
  readonly admission?: readonly AdmissionPlugin[] | undefined
  /** The first one is the outermost. */
  readonly filters?: readonly RequestFilter[] | undefined
  /** Tried in order, before resources. */
  readonly paths?: readonly PathHandler[] | undefined
  /** Writes the audit log. @default none */
  readonly auditor?: Auditor | undefined
}

/** A running API server without a listener: call its handler, or put `listen` in front of it. */
export interface ApiServer extends AsyncDisposable {
  readonly handler: ApiHandler
  /** Makes /readyz fail, so that load balancers send requests to other servers. Requests are still served. */
  drain(): void
  readonly parts: ServerParts
}

/** Starts an API server on a store. The store stays the caller's to close. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, clock = systemClock, random = systemRandom, log = nullLogger } = options
  const feed = new StoreFeed(store, clock, log, options.windows)
  await feed.start()
  const registry = new ObjectRegistry({ store, feed, clock, random })
  const resources = new ResourceTable(options.release)
  // Filled once, when `setup` has returned the list. Resources hold the chain before that, but no request is served until then.
  const plugins: AdmissionPlugin[] = []
  const admission = new AdmissionChain(plugins)
  const dispatcher = new ResourceDispatcher(registry, resources, admission)
  const endpointOf: ResourceDispatcher['endpoint'] = (resource, subresource) =>
    dispatcher.endpoint(resource, subresource)
  const writer = new SystemWriter({ registry, resources, endpointOf })
  const stop = new AbortController()
  const drain = new AbortController()
  const parts: ServerParts = {
    resources,
    registry,
    admission,
    writer,
    clock,
    random,
    log,
    signal: stop.signal,
    draining: drain.signal,
  }
  const dispose = async (): Promise<void> => {
    drain.abort()
    stop.abort()
    await feed[Symbol.asyncDispose]()
  }
  let extensions: ServerExtensions | undefined
  try {
    extensions = await options.setup?.(parts)
    append(plugins, extensions?.admission ?? [])
    await fillCaches(resources, feed)
  } catch (error) {
    // The caller has no handle to dispose yet.
    await dispose()
    throw error
  }
  const { authenticators, authorizer, allowsAnonymous } = options
  const { filters = [], paths = [], auditor } = extensions ?? {}
  const dispatch: ResourceDispatcher['dispatch'] = (context) => dispatcher.dispatch(context)
  const requests = new RequestHandler({
    authenticators,
    allowsAnonymous,
    authorizer,
    filters,
    paths,
    dispatch,
    auditor,
    clock,
    random,
    log,
  })
  return {
    handler: (request) => requests.handle(request),
    parts,
    drain: () => drain.abort(),
    [Symbol.asyncDispose]: dispose,
  }
}

/** Fills the cache of every resource at start, so that a watch can resume from any resource version this server has issued. */
async function fillCaches(resources: ResourceTable, feed: StoreFeed): Promise<void> {
  // A cache that fails to fill now is filled by its first reader.
  resources.onChange((added) => {
    if (added !== undefined) Promise.resolve(feed.cache(added.storage.prefix)).catch(() => undefined)
  })
  const prefixes = new Set(resources.all().map(({ storage }) => storage.prefix))
  await Promise.all([...prefixes].map(async (prefix) => feed.cache(prefix)))
}
