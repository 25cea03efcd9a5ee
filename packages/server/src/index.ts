export type {
  ApiHandler,
  ApiRequest,
  ApiResponse,
  BodySink,
  NodeConnector,
  PodLogRequest,
  RequestPeer,
} from '@kubewright/api'
export {
  CertificateAuthority,
  type CertificateRequest,
  type CertificateSubject,
  type KeyedCertificate,
} from '@kubewright/base/pki'
export type { AggregationOptions } from './aggregation/create-aggregation.ts'
export { createFrontProxyIdentity, type FrontProxyIdentity, frontProxyName } from './aggregation/front-proxy.ts'
export {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
  type ServerExtensions,
  type ServerParts,
} from './api-server.ts'
export { type AssembledServer, type AssembleServerOptions, assembleServer } from './assemble-server.ts'
export type { AccessControlOptions, AnonymousAccess } from './auth/access-control.ts'
export {
  AuthorizationChain,
  type AuthorizationChainOptions,
  type StoredAuthorizers,
} from './auth/authorization-chain.ts'
export { type AuthorizationMode, authorizationModes } from './auth/authorization-modes.ts'
export type { Authorizer, Decision } from './auth/authorizer.ts'
export { type SigningAlgorithm, signingAlgorithms } from './auth/jwt/json-web-token.ts'
export { JwtAuthentication, type JwtAuthenticationOptions } from './auth/jwt/jwt-authentication.ts'
export { startClusterRoleAggregation } from './auth/rbac/aggregate-cluster-roles.ts'
export type { RequestHeaderOptions } from './auth/request-header.ts'
export { ServiceAccountKeys, type SignedClaims } from './auth/service-account-keys.ts'
export type { StaticToken } from './auth/static-tokens.ts'
export type { WebhookConnection } from './auth/webhook/call-auth-webhook.ts'
export { TokenWebhook, type TokenWebhookOptions } from './auth/webhook/token-webhook.ts'
export type { ServerAddress } from './bootstrap/kubernetes-service.ts'
export type { ComponentCheck, ComponentChecks } from './builtins/core/component-status/component-checks.ts'
export { kubernetesAddress, type ServiceRanges } from './builtins/core/service/service-allocator.ts'
export type { HistoryLimits } from './cache/history-limit.ts'
export { type AuditPolicy, type ParsedAuditPolicy, parseAuditPolicy } from './config/audit-policy.ts'
export {
  type AnonymousConfig,
  type AuthenticationConfig,
  type AuthenticationConfigOptions,
  type ClaimMapping,
  type ClaimRule,
  type JwtAuthenticatorConfig,
  type JwtIssuer,
  parseAuthenticationConfig,
} from './config/authentication-config.ts'
export {
  type AuthorizationWebhookConfig,
  type AuthorizerConfig,
  parseAuthorizationConfig,
} from './config/authorization-config.ts'
export type { ConfigExpression } from './config/config-expression.ts'
export { type EncryptionConfig, parseEncryptionConfig } from './config/encryption-config.ts'
export { serverErrorCodes } from './error-codes.ts'
export {
  createExtensionServer,
  type ExtensionResource,
  type ExtensionServerOptions,
} from './extension-server.ts'
export type { AuditSink } from './http/audit/auditor.ts'
export { type Listener, type ListenLimits, type ListenOptions, listen } from './http/listener/listener.ts'
export type { WebhookOptions } from './outgoing/create-webhook-client.ts'
export { type LocalRequest, type LocalResponse, type LocalServer, LocalServers } from './outgoing/local-servers.ts'
export {
  type HostPort,
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
  type OutgoingTls,
  systemOutgoing,
} from './outgoing/outgoing.ts'
export type { ServiceResolver } from './outgoing/service-resolver.ts'
export {
  defaultAdmissionPlugins,
  type OptionalAdmissionPlugin,
  optionalAdmissionPlugins,
} from './plugins/admission-plugins.ts'
export { startPolicyTypeChecking } from './plugins/policies/policy-status.ts'
export { startResourceQuotas } from './plugins/quota/quota-status.ts'
export {
  type KubeletOptions,
  type NodeAddressType,
  nodeAddressTypes,
} from './proxy/kubelet-connections.ts'
export type { BodyLimits } from './request/body.ts'
export type { ListLimits } from './request/list-limits.ts'
export type { PathHandler } from './request/path-handler.ts'
export type { RequestContext } from './request/request-context.ts'
export type { RequestFilter } from './request/request-filter.ts'
export type { UserInfo } from './request/user-info.ts'
export {
  adminUser,
  createServerIdentity,
  type KeptIdentity,
  renewServerIdentity,
  type ServerIdentity,
} from './server-identity.ts'
export type { ServerLimits, StandardOptions } from './standard-extensions.ts'
export { findAbsence, type ResourceAbsence } from './verbs/read/resource-absence.ts'
