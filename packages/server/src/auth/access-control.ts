import type { Clock, Random } from '@kubewright/base'
import type { ObjectAccess } from '../registry/object-access.ts'
import { ObjectLookup, type SharedObject } from '../registry/object-lookup.ts'
import type { PathHandler } from '../request/path-handler.ts'
import type { Authenticator, TokenAuthenticator } from './authenticator.ts'
import { AuthorizationChain } from './authorization-chain.ts'
import { type AuthorizationMode, alwaysAllow, alwaysDeny, UnionAuthorizer } from './authorization-modes.ts'
import type { Authorizer } from './authorizer.ts'
import { bearerTokens } from './bearer-token.ts'
import { bootstrapTokens } from './bootstrap-tokens.ts'
import { clientCertificates } from './client-certificates.ts'
import type { JwtAuthentication } from './jwt/jwt-authentication.ts'
import { NodeAuthorizer } from './node/node-authorizer.ts'
import { NodeGraph } from './node/node-graph.ts'
import { openIdMetadata } from './openid-metadata.ts'
import { EscalationGuard } from './rbac/escalation.ts'
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts'
import { RbacPolicy } from './rbac/rbac-policy.ts'
import { type RequestHeaderOptions, requestHeaders } from './request-header.ts'
import { ServiceAccountKeys } from './service-account-keys.ts'
import { type BoundObjects, ServiceAccountTokens } from './service-account-tokens.ts'
import { type StaticToken, staticTokens } from './static-tokens.ts'
import type { TokenWebhook } from './webhook/token-webhook.ts'

/** Options of {@link createAccessControl}. */
export interface AccessControlOptions {
  /** Bearer tokens with their users. @default none */
  readonly tokens?: readonly StaticToken[] | undefined
  /** Whether verified client certificates authenticate users. @default true */
  readonly clientCertificates?: boolean | undefined
  /** Whether requests without credentials are served as system:anonymous, by path. Others get 401. @default all of them */
  readonly anonymous?: AnonymousAccess | undefined
  /** How requests are authorized; the first mode that allows a request decides. @default Node and RBAC */
  readonly authorization?: readonly AuthorizationMode[] | AuthorizationChain | undefined
  /** Whether the tokens in Secrets of type bootstrap.kubernetes.io/token authenticate machines that join. @default true */
  readonly bootstrapTokens?: boolean | undefined
  /** Authenticates the tokens of OpenID Connect issuers. Stays the caller's to dispose. @default none */
  readonly jwt?: JwtAuthentication | undefined
  /** Authenticates tokens that no other authenticator accepts. @default none */
  readonly tokenWebhook?: TokenWebhook | undefined
  /** Trusts the user headers of a front proxy, as kube-apiserver does. @default no proxy is trusted */
  readonly requestHeader?: RequestHeaderOptions | undefined
  readonly serviceAccounts?:
    | {
        /**
         * PEM keys: the first one signs, all of them verify. A function is called when a key is needed for the first time. @default a key that
         * is generated then
         */
        readonly keys?: readonly string[] | (() => readonly string[]) | undefined
        /** @default 'https://kubernetes.default.svc' */
        readonly issuer?: string | undefined
        /** @default the issuer */
        readonly audiences?: readonly string[] | undefined
      }
    | undefined
  /** The public host and port of this server, for the OpenID discovery document. @default localhost */
  readonly externalAddress?: (() => string) | undefined
}

/** Whether requests without credentials are served: all, none, or those to some paths. */
export type AnonymousAccess = boolean | ((path: string) => boolean)

/** The parts of the server that access control reads. */
export interface AccessControlParts extends ObjectAccess {
  readonly clock: Clock
  readonly random: Random
}

/** Authentication and authorization of one server. */
export interface AccessControl {
  readonly authenticators: readonly Authenticator[]
  /** Whether a request without credentials for this path is served. */
  readonly allowsAnonymous: (path: string) => boolean
  /** Allows only members of system:masters until {@link AccessControl.attach} has loaded the policies. */
  readonly authorizer: Authorizer
  /** Connects to the stored roles, bindings and service accounts. To be called once, during the setup of the server. */
  attach(parts: AccessControlParts): Promise<AttachedAccess>
}

/** The parts of access control that the resources of authentication, authorization and RBAC use. */
export interface AttachedAccess {
  readonly authorizer: Authorizer
  readonly audiences: readonly string[]
  readonly tokenAuthenticators: readonly TokenAuthenticator[]
  readonly serviceAccountTokens: ServiceAccountTokens
  readonly escalation: EscalationGuard
  /** Serves the OpenID metadata of the token issuer. */
  readonly paths: readonly PathHandler[]
}

const defaultIssuer = 'https://kubernetes.default.svc'

/** Creates authentication by tokens, certificates and service accounts, and authorization by RBAC or other modes. */
export function createAccessControl(options: AccessControlOptions = {}): AccessControl {
  const { issuer = defaultIssuer, audiences = [issuer], keys } = options.serviceAccounts ?? {}
  const rbac = new RbacAuthorizer()
  const node = new NodeAuthorizer()
  const { authorization = ['Node', 'RBAC'] } = options
  const isChain = authorization instanceof AuthorizationChain
  const modes: readonly AuthorizationMode[] = isChain ? authorization.modes : authorization
  const authorizer = isChain ? authorization.attach({ rbac, node }) : authorizerOf(modes, { rbac, node })
  const { anonymous = true } = options
  let serviceAccountTokens: ServiceAccountTokens | undefined
  let joiningTokens: TokenAuthenticator | undefined
  const tokenAuthenticators: TokenAuthenticator[] = [
    staticTokens(options.tokens ?? [], audiences),
    async (token, wanted) => serviceAccountTokens?.ownerOf(token, wanted),
    async (token, wanted) => joiningTokens?.(token, wanted),
    // After service accounts, because a token with an unknown key makes the server fetch the keys of its issuer.
    ...(options.jwt ? [options.jwt.authenticatorFor(audiences)] : []),
    ...(options.tokenWebhook ? [options.tokenWebhook.authenticatorFor(audiences)] : []),
  ]
  return {
    authenticators: [
      ...(options.requestHeader ? [requestHeaders(options.requestHeader)] : []),
      ...(options.clientCertificates === false ? [] : [clientCertificates]),
      bearerTokens(tokenAuthenticators, audiences),
    ],
    allowsAnonymous: typeof anonymous === 'function' ? anonymous : () => anonymous,
    authorizer,
    attach: async (parts) => {
      const { clock, random, registry } = parts
      const lookup = new ObjectLookup(parts)
      serviceAccountTokens = new ServiceAccountTokens({
        keys: new ServiceAccountKeys(keys ?? (() => [ServiceAccountKeys.generate()])),
        issuer,
        audiences,
        clock,
        random,
        find: boundObjectsOf(lookup),
      })
      if (options.bootstrapTokens !== false) {
        const secret = async (name: string): Promise<SharedObject | undefined> =>
          lookup.find(['', 'v1', 'secrets'], 'kube-system', name)
        joiningTokens = bootstrapTokens({ secret, clock, audiences })
      }
      const policy = await RbacPolicy.open(registry.feed)
      rbac.attach(policy)
      if (modes.includes('Node')) node.attach(await NodeGraph.open(registry.feed))
      return {
        authorizer,
        audiences,
        tokenAuthenticators,
        serviceAccountTokens,
        escalation: new EscalationGuard({ authorizer, rbac, policy, store: registry.store }),
        paths: [openIdMetadata(serviceAccountTokens, options.externalAddress ?? (() => 'localhost'))],
      }
    },
  }
}

function authorizerOf(
  modes: readonly AuthorizationMode[],
  { rbac, node }: { readonly rbac: Authorizer; readonly node: Authorizer },
): Authorizer {
  const byMode: Readonly<Record<AuthorizationMode, Authorizer>> = {
    Node: node,
    RBAC: rbac,
    AlwaysAllow: alwaysAllow,
    AlwaysDeny: alwaysDeny,
  }
  return new UnionAuthorizer(modes.map((mode) => byMode[mode]))
}

/** Reads the store when the cache lacks the object: a client may present a token right after it created the service account. */
function boundObjectsOf(lookup: ObjectLookup): BoundObjects {
  return async (plural, namespace, name) => {
    const object = await lookup.find(['', 'v1', plural], namespace, name)
    if (!object) return undefined
    const { uid = '', deletionTimestamp } = object.metadata
    const { token } = (object['data'] ?? {}) as { readonly token?: string | undefined }
    return {
      uid,
      deletionTimestamp,
      ...(token === undefined ? {} : { token: Buffer.from(token, 'base64').toString() }),
    }
  }
}
