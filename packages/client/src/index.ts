export type {
  ApiClient,
  ClientOptions,
  CollectionDeletion,
  Deletion,
  EncodedPageOptions,
} from './api-client.ts'
export {
  type ApplyOptions,
  type AttachOptions,
  allNamespaces,
  type CallOptions,
  type Consistency,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type ExecOptions,
  type GetOptions,
  type Key,
  type ListAllOptions,
  type ListOptions,
  type LogOptions,
  type PageOptions,
  type PatchOptions,
  type WatchOptions,
  type WriteOptions,
} from './call-options.ts'
export type { Client, Page, Reader, Written } from './client.ts'
export type { ClientConfig } from './config/client-config.ts'
export { ConfigError, CredentialsError } from './config/config-error.ts'
export type { Command, CommandResult, ConfigHost } from './config/config-host.ts'
export { inClusterConfig, isInCluster } from './config/in-cluster-config.ts'
export { type Kubeconfig, KubeconfigEntry, mergeKubeconfigs, parseKubeconfig } from './config/kubeconfig.ts'
export { type LoadConfigOptions, loadClientConfig, loadKubeconfig } from './config/load-client-config.ts'
export { type ConfigMachine, type ContextChoice, resolveContext } from './config/resolve-context.ts'
export { systemConfigHost } from './config/system-config-host.ts'
export { type ConnectOptions, connect, transportFor } from './connect.ts'
export { createClient } from './create-client.ts'
export { Discovery, type ServedGroup, type ServedResource, type ServedVersion } from './discovery/discovery.ts'
export { NoMatchError } from './discovery/no-match-error.ts'
export { RestMapper } from './discovery/rest-mapper.ts'
export {
  type DynamicDraft,
  type DynamicKind,
  type DynamicKindFacts,
  type DynamicObject,
  dynamicKind,
  isMetadataOnly,
  type MetadataDraft,
  type MetadataKind,
  metadataOnly,
} from './dynamic-kind.ts'
export { clientErrorCodes } from './error-codes.ts'
export { ForwardedPort } from './exec/forwarded-port.ts'
export { RemoteCommand } from './exec/remote-command.ts'
export { checkIndex, type IndexQuery, index, matchesIndex, type ObjectIndex } from './object-index.ts'
export type { MergePatch, PartialDraft, PatchBody } from './patch-body.ts'
export { basicAuth, bearerToken, type Credentials, type Impersonation } from './rest/credentials.ts'
export { type RequestAttempt, RestClient, type RestClientOptions, type RestRequest } from './rest/rest-client.ts'
export { type RetryOnConflictOptions, retryOnConflict } from './retry-on-conflict.ts'
export type { ScaleObject, SubresourceClient, SubresourceRead } from './subresource-client.ts'
export { ConnectionError, type ConnectionErrorFacts } from './transport/connection-error.ts'
export type { TlsMaterial } from './transport/http-dial.ts'
export { type HttpTransportOptions, httpTransport } from './transport/http-transport.ts'
export { type InProcessTransportOptions, inProcessTransport } from './transport/in-process-transport.ts'
export type {
  MessageConnection,
  Transport,
  TransportBody,
  TransportRequest,
  TransportResponse,
  UpgradeRequest,
} from './transport/transport.ts'
export { type ByteHome, type CachedForm, EncodedObject, type EncodedType } from './watch/encoded-object.ts'
export { type EncodedPage, EncodedReader, type EncodedReaderParts } from './watch/encoded-reader.ts'
export type { EncodedParts } from './watch/lazy-members.ts'
export { type WatchEvent, WatchStream, type WatchStreamParts } from './watch/watch-stream.ts'
