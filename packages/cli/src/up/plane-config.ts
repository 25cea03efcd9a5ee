import { readFile } from 'node:fs/promises'
import { maxJsonDepth } from '@kubewright/api'
import { type FlagValues, UsageError } from '@kubewright/base'
import type { PlaneConfig, StoreConfig } from '@kubewright/controlplane'
import { adminUser } from '@kubewright/server'
import type { CommandContext } from '../command/command-context.ts'
import { releaseOf } from '../command/kubernetes-flag.ts'
import { admissionPlugins, apiServerConfig } from './api-server-config.ts'
import type { planeFlags } from './plane-flags.ts'
import { storeConfig } from './store-config.ts'
import type { upFlags } from './up-command.ts'

type Flags = FlagValues<ReturnType<typeof planeFlags>>

/** A control plane as flags describe it. */
export interface FlagConfig extends PlaneConfig {
  readonly store: StoreConfig
}

/**
 * Describes the control plane of `dev`, by the flags that it shares with `up`. It enforces the permissions for owner references, as several
 * distributions do, so that a missing one shows during development. Throws {@link UsageError} for flags that exclude each other.
 */
export async function planeConfig(
  values: Flags,
  store: StoreConfig,
  { env }: Pick<CommandContext, 'env'>,
): Promise<FlagConfig> {
  await releaseOf(values.kubernetes)
  const common = commonConfig(values)
  const plugins = new Set([...(common.admissionPlugins ?? []), 'OwnerReferencesPermissionEnforcement'] as const)
  return {
    ...common,
    admissionPlugins: [...plugins],
    ...(await clientAccess(values)),
    store: await storeConfig(values, store, env),
  }
}

/**
 * Describes the control plane of the flags of `up`, with warnings about flags without effect. Reads the files that flags name. Throws
 * {@link UsageError} for flags that exclude each other, and for values that kube-apiserver refuses.
 */
export async function upConfig(
  values: FlagValues<typeof upFlags>,
  context: Pick<CommandContext, 'env' | 'out'>,
): Promise<{ readonly config: FlagConfig; readonly warnings: readonly string[] }> {
  const { config: api, warnings } = await apiServerConfig(await releaseOf(values.kubernetes), values, context)
  const common = commonConfig(values)
  const { access } = await clientAccess(values, values['client-ca-file'])
  const config = {
    ...common,
    ...api,
    limits: { ...common.limits, ...api.limits },
    access: { ...access, ...api.access, tokens: [...access.tokens, ...(api.access?.tokens ?? [])] },
    store: await storeConfig(values, { kind: 'durable', folder: '.kubewright/data' }, context.env),
    serving: {
      ...common.serving,
      ...api.serving,
      port: values['secure-port'] ?? values.port,
      shutdownDelay: values['shutdown-delay-duration'],
    },
    levers: values.console || values.open,
  }
  return { config, warnings }
}

function commonConfig(values: Flags) {
  const { port, nodes, 'max-list-objects': objects } = values
  return {
    kubernetes: values.kubernetes,
    controllers: values.controllers,
    // With heartbeats, because a kube-controller-manager may monitor the nodes.
    nodes: nodes > 0 ? ({ nodes, heartbeat: '10s' } as const) : 0,
    history: { bytes: values['history-mib'] * 1024 * 1024 },
    limits: {
      body: bodyLimits(values),
      ...(objects === undefined ? {} : { list: { objects } }),
      watchesPerUser: values['max-watches-per-user'],
    },
    ...admissionPlugins(values['enable-admission-plugins'] ?? [], []),
    serving: {
      port,
      limits: {
        // The largest value of the HTTP/2 default excludes 64 KiB itself.
        headerBytes: values['max-header-kib'] * 1024 - 1,
        streamsPerConnection: values['max-streams'],
      },
    },
  } satisfies PlaneConfig
}

function bodyLimits(values: Flags): { bytes: number; values: number; depth?: number | undefined } {
  const { 'max-body-depth': depth } = values
  return {
    bytes: values['max-body-mib'] * 1024 * 1024,
    values: values['max-body-values'],
    // The reader of bodies enforces the maximum by itself, without a second pass.
    ...(depth === maxJsonDepth ? {} : { depth }),
  }
}

/** The token and the further CA of the flags. */
async function clientAccess({ token, 'client-ca': file }: Flags, otherFile?: string) {
  if (file !== undefined && otherFile !== undefined)
    throw new UsageError('--client-ca and --client-ca-file exclude each other: give one of them')
  const tokens = token === undefined ? [] : [{ token, user: { name: adminUser, groups: ['system:masters'] } }]
  const clientCa = file ?? otherFile
  return { access: { tokens, clientCas: clientCa === undefined ? [] : [await certificateIn(clientCa)] } }
}

async function certificateIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--client-ca and --client-ca-file must be a file with PEM certificates: ${file} contains none`)
  return text
}
