import type { Clock, Logger, Random } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import type { Store } from '@kubewright/storage'
import { frontProxyName } from './aggregation/front-proxy.ts'
import { type ApiServer, createApiServer } from './api-server.ts'
import { anonymousUser } from './auth/authenticator.ts'
import type { Authorizer } from './auth/authorizer.ts'
import { type RequestHeaderOptions, requestHeaders } from './auth/request-header.ts'
import { defaultServedRelease } from './codec/served-release.ts'
import { asCrd, type CrdSpec } from './crd/definitions/crd.ts'
import { customResources } from './crd/resources/custom-resource.ts'
import { DiscoveryIndex } from './discovery/discovery-index.ts'
import { discoveryPaths } from './discovery/discovery-paths.ts'
import { rootPaths } from './discovery/root-paths.ts'
import { versionPath } from './discovery/version-path.ts'
import { requestTimeout } from './http/filters/request-timeout.ts'
import { healthPaths } from './http/health/health-paths.ts'
import { standardChecks } from './http/health/standard-checks.ts'
import { openApiPaths } from './openapi/openapi-paths.ts'
import type { PathHandler } from './request/path-handler.ts'
import type { Resource } from './resource/resource.ts'

/** A resource of an extension server. `spec` is that of a CustomResourceDefinition. */
export interface ExtensionResource {
  readonly spec: CrdSpec
}

/** Options of {@link createExtensionServer}. */
export interface ExtensionServerOptions {
  /** Stores the objects. Stays the caller's to close. */
  readonly store: Store
  readonly resources: readonly ExtensionResource[]
  /** Handlers of paths that are no stored resource. Tried before all others. @default none */
  readonly paths?: readonly PathHandler[] | undefined
  /** The front proxy to trust. @default the front proxy of a Kubewright server */
  readonly requestHeader?: RequestHeaderOptions | undefined
  /** @default allows all requests of the front proxy, which has authorized them */
  readonly authorizer?: Authorizer | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
}

/**
 * Starts an extension API server, which serves group versions behind the aggregation of another server under an APIService. It
 * supports every verb, discovery, OpenAPI and health, and trusts its front proxy for the identity of users. Put `listen` in front
 * of its handler, with the CA of the proxy as the only client CA: any trusted certificate with an allowed name counts as the proxy, so the CA of a
 * cluster, which signs certificates for its users, must not be among them.
 */
export function createExtensionServer(options: ExtensionServerOptions): Promise<ApiServer> {
  const { store, resources, paths = [], requestHeader = { allowedNames: [frontProxyName] } } = options
  const { clock, random, log } = options
  return createApiServer({
    store,
    ...(clock ? { clock } : {}),
    ...(random ? { random } : {}),
    ...(log ? { log } : {}),
    authenticators: [requestHeaders(requestHeader)],
    authorizer: options.authorizer ?? behindProxy,
    setup: async (parts) => {
      for (const resource of resources.flatMap((given) => resourcesOf(given, parts.signal))) {
        parts.resources.set(resource)
      }
      const discovery = new DiscoveryIndex(parts.resources)
      const openApi = { resources: parts.resources, discovery, release: defaultRelease }
      const { registry } = parts
      const health = standardChecks({ store, feed: registry.feed, clock: parts.clock })
      return {
        filters: [requestTimeout(parts.clock)],
        paths: [
          ...paths,
          discoveryPaths(discovery),
          openApiPaths(openApi, parts.clock),
          versionPath(defaultRelease),
          healthPaths(health, parts.log),
          rootPaths(discovery, () => [...health.paths(), '/openapi/v2', '/openapi/v3', '/version']),
        ],
      }
    },
  })
}

const behindProxy: Authorizer = {
  authorize: async ({ user, path }) => {
    // Health endpoints are open for process supervisors.
    const allowed = user.name !== anonymousUser.name || /^\/(healthz|livez|readyz)$/.test(path)
    return { allowed, reason: allowed ? '' : 'only requests from the front proxy are served' }
  },
}

function resourcesOf({ spec }: ExtensionResource, ended: AbortSignal): readonly Resource[] {
  const { plural, kind } = spec.names ?? {}
  if (!plural || !kind) throw new TypeError('Invalid extension resource: set spec.names.plural and spec.names.kind')
  const acceptedNames = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...spec.names }
  const crd = asCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${spec.group}` },
    spec,
    status: { acceptedNames },
  })
  return customResources(crd, { release: defaultServedRelease, ended }).served
}
