import type { NodeConnector } from '@kubewright/api'
import { type Clock, type Logger, nullLogger, onAbort, type Random, systemClock } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { type ApiServer, createApiServer, type ServerExtensions, type ServerParts } from './api-server.ts'
import { type AccessControl, type AccessControlOptions, createAccessControl } from './auth/access-control.ts'
import { ensureBootstrapPolicy } from './bootstrap/bootstrap-policy.ts'
import { publishServerAddresses, type ServerAddress } from './bootstrap/kubernetes-service.ts'
import { type PresenceOptions, ServerPresence } from './bootstrap/server-presence.ts'
import { keepServiceAddresses } from './bootstrap/service-addresses.ts'
import { builtinResources } from './builtins/builtin-resources.ts'
import { builtins } from './builtins/builtins.ts'
import type { ComponentChecks } from './builtins/core/component-status/component-checks.ts'
import { kubernetesAddress, type ServiceRanges } from './builtins/core/service/service-allocator.ts'
import { HistoryLimit, type HistoryLimits } from './cache/history-limit.ts'
import { type ServedRelease, servedRelease } from './codec/served-release.ts'
import type { EncryptionConfig } from './config/encryption-config.ts'
import { converterFor } from './crd/conversion/webhook-converter.ts'
import { CrdRegistrar } from './crd/crd-registrar.ts'
import { customResourceDefinitions } from './crd/definitions/crd-strategy.ts'
import { EncryptedStore, type StoredResource } from './encryption/encrypted-store.ts'
import { createWebhookClient, type WebhookOptions } from './outgoing/create-webhook-client.ts'
import { admissionPlugins, type OptionalAdmissionPlugin } from './plugins/admission-plugins.ts'
import { KubeletConnections, type KubeletOptions } from './proxy/kubelet-connections.ts'
import { type StandardOptions, standardExtensions } from './standard-extensions.ts'

/** Options of {@link assembleServer}. */
export interface AssembleServerOptions extends StandardOptions {
  /** Stays the caller's to close. */
  readonly store: Store
  /** Who may access the server. @default verified client certificates and service account tokens */
  readonly access?: AccessControlOptions | undefined
  /** The minor release of Kubernetes to serve, such as `1.36`. @default the newest stable one that is supported */
  readonly kubernetes?: string | undefined
  /** Which built-in resources are served. @default all */
  readonly serves?: ((group: string, version: string, resource: string) => boolean) | undefined
  /** Which objects are stored encrypted, and how. @default none */
  readonly encryption?: EncryptionConfig | undefined
  /** The ranges of cluster IPs and node ports. */
  readonly serviceRanges?: ServiceRanges | undefined
  /** Optional admission plugins to run besides the default ones of kube-apiserver. @default none */
  readonly admissionPlugins?: readonly OptionalAdmissionPlugin[] | undefined
  /** Default admission plugins to leave out. @default none */
  readonly disabledAdmissionPlugins?: readonly string[] | undefined
  /** How the server connects to webhooks, and to extension servers unless `aggregation` has its own settings. */
  readonly webhooks?: WebhookOptions | undefined
  /** The components of the control plane that run in this process, for componentstatuses. @default none */
  readonly components?: ComponentChecks | undefined
  /** The simulated nodes. @default none */
  readonly nodes?: NodeConnector | undefined
  /** How the server connects to the kubelets of all other nodes. */
  readonly kubelets?: KubeletOptions | undefined
  /** How long the history of the store is kept. */
  readonly history?: HistoryLimits | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
}

/** A complete server without a listener. */
export interface AssembledServer extends ApiServer {
  /** Publishes the address of the server as the endpoint of the service `kubernetes`. Loopback addresses are rejected. */
  publishAddress(address: ServerAddress): Promise<void>
  /**
   * Announces the server on a store that other servers share: an identity Lease in kube-system, and its address among the endpoints of the
   * service `kubernetes`. Disposing the result withdraws the server. On any other store, publishes the address only.
   */
  announce(options: Omit<PresenceOptions, 'clusterIp'>): Promise<AsyncDisposable>
}

/**
 * Starts a complete Kubernetes API server on a store, with every built-in kind, access control, discovery, admission and the objects of
 * a fresh cluster. The server has no listener: call its handler, or put `listen` in front of it.
 */
export async function assembleServer(options: AssembleServerOptions): Promise<AssembledServer> {
  const { history, clock = systemClock, log = nullLogger } = options
  const release = await servedRelease(options.kubernetes)
  const store = options.encryption ? encryptedStore(release, options.store, options.encryption) : options.store
  const access = createAccessControl(options.access)
  let definitions: CrdRegistrar | undefined
  const server = await createApiServer({
    store,
    release,
    clock,
    log,
    windows: history?.bytes === undefined ? {} : { bytes: history.bytes },
    ...(options.random ? { random: options.random } : {}),
    authenticators: access.authenticators,
    allowsAnonymous: access.allowsAnonymous,
    authorizer: access.authorizer,
    setup: async (parts) => {
      const { extensions, registrar } = await setUp(parts, access, options)
      definitions = registrar
      return extensions
    },
  })
  let addresses: AsyncDisposable | undefined
  try {
    addresses = await keepServiceAddresses(server.parts)
  } catch (error) {
    // The caller has no handle to dispose yet.
    await definitions?.[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    throw error
  }
  const limit = new HistoryLimit(
    { store, clock, log, changed: (signal) => server.parts.registry.feed.changed(signal) },
    history,
  )
  return {
    ...server,
    publishAddress: (address) => publishServerAddresses(server.parts, [address]),
    announce: async (presence) => {
      const clusterIp = kubernetesAddress(options.serviceRanges?.clusterIpRange)
      if (store.shared) return ServerPresence.start(server.parts, { ...presence, clusterIp })
      const { address, port } = presence
      if (address !== undefined) await publishServerAddresses(server.parts, [{ address, port }])
      return { [Symbol.asyncDispose]: async () => undefined }
    },
    [Symbol.asyncDispose]: async () => {
      await addresses[Symbol.asyncDispose]()
      await limit[Symbol.asyncDispose]()
      await definitions?.[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

function encryptedStore(release: ServedRelease, store: Store, config: EncryptionConfig): Store {
  const prefixes = new Map<string, StoredResource>()
  for (const { kind, storage } of builtinResources(release, [...builtins, customResourceDefinitions])) {
    // The first group of a prefix counts: events belong to the core group.
    if (!prefixes.has(storage.prefix)) prefixes.set(storage.prefix, { group: kind.group, resource: kind.plural })
  }
  return new EncryptedStore(store, config, prefixes)
}

/** Wires the rooms. This is the only function that depends on all of them. */
async function setUp(
  parts: ServerParts,
  access: AccessControl,
  options: AssembleServerOptions,
): Promise<{ readonly extensions: ServerExtensions; readonly registrar: CrdRegistrar }> {
  const attached = await access.attach(parts)
  const resources = builtinResources(parts.resources.release, [...builtins, customResourceDefinitions], {
    ...parts,
    access: attached,
    nodes: options.nodes,
    components: options.components,
    kubelets: new KubeletConnections(parts, options.kubelets),
    serviceRanges: options.serviceRanges,
  })
  const { serves = () => true } = options
  for (const resource of resources) {
    const { group, version, plural } = resource.kind
    if (serves(group, version, plural)) parts.resources.set(resource)
  }
  const standard = await standardExtensions(parts, {
    ...options,
    clusterIpRange: options.serviceRanges?.clusterIpRange,
    aggregation: { ...options.webhooks, ...options.aggregation },
  })
  // As kube-apiserver: without RBAC, there are no bootstrap roles.
  const { authorization = ['RBAC'] } = options.access ?? {}
  const hasRoles = ('modes' in authorization ? authorization.modes : authorization).includes('RBAC')
  if (hasRoles && !options.isBootstrapped) await ensureBootstrapPolicy(parts)
  const webhooks = createWebhookClient(parts, options.webhooks)
  const registrar = await CrdRegistrar.start(parts, {
    converterFor: (crd) => converterFor({ client: webhooks, random: parts.random }, crd),
  })
  // Stops the registrar when a later step of the start fails.
  onAbort(parts.signal, () => void registrar[Symbol.asyncDispose]())
  const { authorizer } = access
  const { auditor, discovery, filters, paths } = standard
  const admission = admissionPlugins({ ...parts, authorizer, webhooks, discovery }, options.admissionPlugins).filter(
    ({ name }) => !options.disabledAdmissionPlugins?.includes(name),
  )
  return { extensions: { admission, auditor, filters, paths: [...attached.paths, ...paths] }, registrar }
}
