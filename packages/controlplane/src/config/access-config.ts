import type {
  AccessControlOptions,
  AuthorizationMode,
  AuthorizerConfig,
  JwtAuthenticatorConfig,
  SigningAlgorithm,
  TokenWebhookOptions,
  WebhookConnection,
} from '@kubewright/server'
import type { ConfigFile } from './config-file.ts'

/** Who may access the API of a control plane. */
export interface AccessConfig
  extends Omit<AccessControlOptions, 'authorization' | 'jwt' | 'tokenWebhook' | 'serviceAccounts' | 'externalAddress'> {
  /** PEM of further CAs whose client certificates `serve` trusts. @default none */
  readonly clientCas?: readonly string[] | undefined
  /** How requests are authorized: modes, of which the first that allows a request decides, or a chain. @default Node and RBAC */
  readonly authorization?: readonly AuthorizationMode[] | AuthorizersConfig | undefined
  /** The issuers of ID tokens. @default none */
  readonly jwt?: JwtConfig | undefined
  /** Authenticates tokens that nothing else accepts. @default none */
  readonly tokenWebhook?: Omit<TokenWebhookOptions, 'clock' | 'random' | 'log'> | undefined
  readonly serviceAccounts?: ServiceAccountConfig | undefined
}

/** The keys and the issuer of service account tokens. */
export interface ServiceAccountConfig extends NonNullable<AccessControlOptions['serviceAccounts']> {
  /** PEM of keys that verify tokens besides `keys`. The default of `keys` is the key of the identity. @default none */
  readonly verifyingKeys?: readonly string[] | undefined
}

/** The issuers of ID tokens, and the file that they come from. */
export interface JwtConfig {
  readonly issuers: readonly JwtAuthenticatorConfig[]
  /** The accepted signature algorithms. @default all */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined
  /** The file with the issuers, which is followed. @default the issuers do not change */
  readonly file?: ConfigFile<readonly JwtAuthenticatorConfig[]> | undefined
}

/** A chain of authorizers, webhooks among them. */
export interface AuthorizersConfig {
  readonly authorizers: readonly AuthorizerConfig[]
  /** How to connect to the webhook of a kubeconfig. */
  readonly connect: (kubeConfigFile: string) => WebhookConnection
  /** The file with the authorizers, which is followed. @default the chain does not change */
  readonly file?: ConfigFile<readonly AuthorizerConfig[]> | undefined
}
