import type { ServerParts } from '../api-server.ts'
import { ensureBootstrapPolicy } from '../bootstrap/bootstrap-policy.ts'
import { authenticationReviews } from '../builtins/authentication/authentication-reviews.ts'
import { authorizationReviews } from '../builtins/authorization/authorization-reviews.ts'
import type { BuiltinTable } from '../builtins/builtin-resources.ts'
import {
  certificateAdmission,
  certificateSigningRequests,
} from '../builtins/certificates/certificate-signing-request/certificate-signing-request.ts'
import { tokenSubresource } from '../builtins/core/service-account/token-request.ts'
import { rbacResources } from '../builtins/rbac/rbac-resources.ts'
import type { Authenticator, TokenAuthenticator } from './authenticator.ts'
import type { Authorizer } from './authorizer.ts'
import { bearerTokens } from './bearer-token.ts'
import { clientCertificates } from './client-certificates.ts'
import { openIdMetadata } from './openid-metadata.ts'
import { EscalationGuard } from './rbac/escalation.ts'
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts'
import { RbacPolicy } from './rbac/rbac-policy.ts'
import { type RequestHeaderOptions, requestHeaders } from './request-header.ts'
import { ServiceAccountKeys } from './service-account-keys.ts'
import { type BoundObjects, ServiceAccountTokens } from './service-account-tokens.ts'
import { type StaticToken, staticTokens } from './static-tokens.ts'

/** What {@link createAccessControl} takes. */
export interface AccessControlOptions {
  /** Bearer tokens that are known from the start. @default none */
  readonly tokens?: readonly StaticToken[]
  /** Whether verified client certificates name users. @default true */
  readonly clientCertificates?: boolean
  /** Lets a front proxy say who requests are from, as kube-apiserver does for extension servers. @default nobody is believed */
  readonly requestHeader?: RequestHeaderOptions
  readonly serviceAccounts?: {
    /** PEM keys; the first one signs, all verify. @default one that lives as long as the server */
    readonly keys?: readonly string[]
    /** @default 'https://kubernetes.default.svc' */
    readonly issuer?: string
    /** @default the issuer */
    readonly audiences?: readonly string[]
  }
  /** Host and port under which others reach this server, for the discovery document of the token issuer. */
  readonly externalAddress?: () => string
}

/** Who may use a server and for what: hand its parts to `createApiServer`, and call `attach` during its setup. */
export interface AccessControl {
  readonly authenticators: readonly Authenticator[]
  readonly authorizer: Authorizer
  /**
   * Connects to a server that is being set up, before its resources are. The result is what the resources of authentication,
   * authorization and RBAC need; until then only members of system:masters are let in.
   */
  attach(parts: ServerParts): Promise<BuiltinTable>
  /** Creates the roles and bindings that every cluster has; after the resources have been set up. */
  bootstrap(parts: ServerParts): Promise<void>
}

const defaultIssuer = 'https://kubernetes.default.svc'

/** Authentication by tokens, certificates and service accounts, and authorization by RBAC. */
export function createAccessControl(options: AccessControlOptions = {}): AccessControl {
  const { issuer = defaultIssuer, audiences = [issuer], keys } = options.serviceAccounts ?? {}
  const authorizer = new RbacAuthorizer()
  let tokens: ServiceAccountTokens | undefined
  const tokenAuthenticators: TokenAuthenticator[] = [
    staticTokens(options.tokens ?? [], audiences),
    async (token, wanted) => tokens?.ownerOf(token, wanted),
  ]
  return {
    authenticators: [
      ...(options.requestHeader ? [requestHeaders(options.requestHeader)] : []),
      ...(options.clientCertificates === false ? [] : [clientCertificates]),
      bearerTokens(tokenAuthenticators, audiences),
    ],
    authorizer,
    attach: async (parts) => {
      const { clock, random, registry } = parts
      tokens = new ServiceAccountTokens({
        keys: new ServiceAccountKeys(keys ?? [ServiceAccountKeys.generate()]),
        issuer,
        audiences,
        clock,
        random,
        find: boundObjectsOf(parts),
      })
      const policy = await RbacPolicy.open(registry.feed)
      authorizer.attach(policy)
      parts.admission.push(certificateAdmission(authorizer))
      parts.paths.push(openIdMetadata(tokens, options.externalAddress ?? (() => 'localhost')))
      return {
        ...rbacResources(new EscalationGuard({ authorizer, policy, store: registry.store })),
        ...authenticationReviews({ tokens: tokenAuthenticators, audiences }),
        ...authorizationReviews(authorizer),
        ...certificateSigningRequests(),
        '/serviceaccounts': { subresources: { token: tokenSubresource(parts, tokens) } },
      }
    },
    bootstrap: ensureBootstrapPolicy,
  }
}

/** Looks into the cache first and asks the store for what is not there: a token may be shown right after its account was made. */
function boundObjectsOf({ resources, registry }: ServerParts): BoundObjects {
  return async (plural, namespace, name) => {
    const resource = resources.find('', 'v1', plural)
    if (!resource) return undefined
    const cache = await registry.feed.cache(resource.storage.prefix)
    const stored =
      cache.get(registry.keyOf(resource, namespace, name)) ?? (await registry.find(resource, namespace, name))
    if (!stored) return undefined
    const { uid = '', deletionTimestamp } = stored.object.metadata
    const { token } = (stored.object['data'] ?? {}) as { readonly token?: string }
    return {
      uid,
      deletionTimestamp,
      ...(token === undefined ? {} : { token: Buffer.from(token, 'base64').toString() }),
    }
  }
}
