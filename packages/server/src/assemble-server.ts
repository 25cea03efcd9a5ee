import { type Clock, type Logger, nullLogger, onAbort, type Random, systemClock } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { type ApiServer, createApiServer } from './api-server.ts'
import { type AccessControlOptions, createAccessControl } from './auth/access-control.ts'
import { type BuiltinOptions, installBuiltins } from './bootstrap/install-builtins.ts'
import { publishServerAddress, type ServerAddress } from './bootstrap/kubernetes-service.ts'
import { builtinResources } from './builtins/builtin-resources.ts'
import { builtinTable } from './builtins/builtin-table.ts'
import { coreServerResources } from './builtins/core/core-resources.ts'
import type { NodeConnector } from './builtins/core/pod/subresources/node-connector.ts'
import { mergeBuiltinTables } from './builtins/merge-builtin-tables.ts'
import { HistoryLimit, type HistoryLimits } from './cache/history-limit.ts'
import { converterFor } from './crd/conversion/webhook-converter.ts'
import { CrdRegistrar } from './crd/crd-registrar.ts'
import { crdResources } from './crd/crd-strategy.ts'
import {
  createWebhookClient,
  installExtensibleAdmission,
  type WebhookOptions,
} from './plugins/install-extensible-admission.ts'
import { installOptionalAdmission, type OptionalAdmissionPlugin } from './plugins/optional-admission.ts'

/** What {@link assembleServer} takes. */
export interface AssembleServerOptions {
  /** Stays the caller's: it is not closed with the server. */
  readonly store: Store
  /** Who is let in. @default nobody but holders of verified client certificates and service account tokens */
  readonly access?: AccessControlOptions
  /** Limits, audit log and what others may know of the server. */
  readonly builtins?: BuiltinOptions
  /** Admission plugins that run besides those that a kube-apiserver runs by itself. @default none */
  readonly admissionPlugins?: readonly OptionalAdmissionPlugin[] | undefined
  /** How webhooks are reached, and extension servers where `builtins` does not say otherwise. */
  readonly webhooks?: WebhookOptions
  /** How the server reaches what runs on nodes. @default not at all */
  readonly nodes?: NodeConnector
  /** How long the store's history can be read. */
  readonly history?: HistoryLimits
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
}

/** A complete server without a listener. */
export interface AssembledServer extends ApiServer {
  /** Points the service `kubernetes` at the server, once it is known where that listens. No loopback address is accepted. */
  publishAddress(address: ServerAddress): Promise<void>
}

/**
 * Starts a complete Kubernetes API server on a store: every built-in kind, access control, discovery, admission and the objects that
 * every cluster has. It has no listener yet: call its handler, or put `listen` in front.
 */
export async function assembleServer(options: AssembleServerOptions): Promise<AssembledServer> {
  const { access: accessOptions, history, store, clock = systemClock, log = nullLogger } = options
  const access = createAccessControl(accessOptions)
  let definitions: CrdRegistrar | undefined
  const server = await createApiServer({
    store,
    clock,
    log,
    ...(options.random ? { random: options.random } : {}),
    authenticators: access.authenticators,
    authorizer: access.authorizer,
    setup: async (parts) => {
      const table = mergeBuiltinTables(
        builtinTable,
        crdResources,
        coreServerResources(parts, { nodes: options.nodes }),
        await access.attach(parts),
      )
      for (const resource of builtinResources(table)) parts.resources.set(resource)
      const { discovery } = await installBuiltins(parts, {
        ...options.builtins,
        aggregation: { ...options.webhooks, ...options.builtins?.aggregation },
      })
      installOptionalAdmission(
        parts.admission,
        { authorizer: access.authorizer, discovery },
        options.admissionPlugins ?? [],
      )
      const client = createWebhookClient(parts, options.webhooks)
      installExtensibleAdmission(parts, access.authorizer, client)
      await access.bootstrap(parts)
      const registrar = await CrdRegistrar.start(parts, {
        converterFor: (crd) => converterFor({ client, random: parts.random }, crd),
      })
      definitions = registrar
      // A server that cannot start after all ends what it has begun.
      onAbort(parts.signal, () => void registrar[Symbol.asyncDispose]())
    },
  })
  const limit = new HistoryLimit({ store, clock, log }, history)
  return {
    ...server,
    publishAddress: (address) => publishServerAddress(server.parts, address),
    [Symbol.asyncDispose]: async () => {
      await limit[Symbol.asyncDispose]()
      await definitions?.[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
