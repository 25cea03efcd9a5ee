import { type AsyncDisposer, CaughtError } from '@kubewright/base'
import {
  type AccessControlOptions,
  type AssembleServerOptions,
  type LocalServers,
  type ServerIdentity,
  ServiceAccountKeys,
  systemOutgoing,
} from '@kubewright/server'
import type { Store } from '@kubewright/storage'
import type { RunningControllers } from '../components/start-controllers.ts'
import type { CompletedConfig } from '../config/completed-config.ts'
import type { PlaneConfig } from '../config/plane-config.ts'
import { historyOf } from '../config/store-config.ts'
import { kubeletClient } from '../identity/kubelet-client.ts'
import { accessOptions } from './access-options.ts'
import { openAuditLog } from './audit-log.ts'

/** What a control plane learns from its surroundings, beside its configuration. */
export interface Surroundings extends Pick<AssembleServerOptions, 'published' | 'isBootstrapped'> {
  /** An open store that belongs to the caller. @default the one that the configuration describes */
  readonly store?: Store | undefined
  /** PEM of the certificates with which pods verify this server, published in every namespace. @default the CA of the identity */
  readonly rootCa?: string | undefined
  /** The public host and port of the server. */
  readonly externalAddress?: AccessControlOptions['externalAddress'] | undefined
}

/** Derives the options of the API server of a control plane. */
export function serverOptions(
  config: CompletedConfig,
  { store, published, isBootstrapped, externalAddress }: Surroundings & { readonly store: Store },
  parts: {
    readonly keys: ServiceAccountKeyList
    readonly identity: () => ServerIdentity
    readonly localServers: LocalServers
    /** The controllers start after the server, which they need. */
    readonly controllers: () => RunningControllers | undefined
    readonly disposer: AsyncDisposer
  },
): AssembleServerOptions {
  const { clock, random, log, access, webhooks, kubelets } = config
  const { keys, identity, localServers, controllers, disposer } = parts
  const { verifyingKeys: _, ...serviceAccounts } = access?.serviceAccounts ?? {}
  return {
    // Limits, encryption, admission plugins and other options that have the same form in both.
    ...config,
    store,
    clock,
    random,
    log,
    history: historyOf(config.store, config.history),
    access: {
      ...accessOptions(config, disposer),
      serviceAccounts: { ...serviceAccounts, keys },
      ...(externalAddress ? { externalAddress } : {}),
    },
    audit: openAuditLog(config, disposer),
    published,
    isBootstrapped,
    webhooks: { ...webhooks, outgoing: localServers.before(webhooks?.outgoing ?? systemOutgoing) },
    kubelets: { client: kubeletClient(identity, clock), ...kubelets },
    components: (name) => {
      if (!(name === 'scheduler' ? runsScheduler(config) : config.controllers !== 'none')) return undefined
      return async () => {
        if (!controllers()) throw new CaughtError('the component is starting')
        return 'ok'
      }
    },
    nodes: {
      logs: (request) => controllers()?.nodes?.logs(request),
      refusesStreams: (node) => controllers()?.nodes?.refusesStreams?.(node),
    },
  }
}

function runsScheduler({ scheduler, nodes = 1 }: PlaneConfig): boolean {
  return scheduler ?? (typeof nodes === 'number' ? nodes > 0 : true)
}

type ServiceAccountKeyList = readonly string[] | (() => readonly string[])

/** The keys of service account tokens: those of the configuration, that of the identity, or one that is generated when it is first needed. */
export function serviceAccountKeys({ access, identity }: PlaneConfig): ServiceAccountKeyList {
  const { keys = identity ? [identity.serviceAccountKey] : generatedKeys(), verifyingKeys = [] } =
    access?.serviceAccounts ?? {}
  if (verifyingKeys.length === 0) return keys
  return typeof keys === 'function' ? () => [...keys(), ...verifyingKeys] : [...keys, ...verifyingKeys]
}

/** A key for service account tokens that is generated when it is first needed: most tests need none. */
function generatedKeys(): () => readonly string[] {
  let keys: readonly string[] | undefined
  return () => (keys ??= [ServiceAccountKeys.generate()])
}
