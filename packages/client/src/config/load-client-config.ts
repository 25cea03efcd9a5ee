import { delimiter, join } from 'node:path'
import { type Clock, errorText, systemClock } from '@kubewright/base'
import type { ClientConfig } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import type { ConfigHost } from './config-host.ts'
import { inClusterConfig, isInCluster } from './in-cluster-config.ts'
import { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts'
import { type ConfigMachine, type ContextChoice, resolveContext } from './resolve-context.ts'
import { systemConfigHost } from './system-config-host.ts'

/** Options of {@link loadClientConfig}. */
export interface LoadConfigOptions extends ContextChoice {
  /** A kubeconfig file to use instead of those of the environment. It must exist. */
  readonly kubeconfig?: string | undefined
  /** @default this machine */
  readonly host?: ConfigHost | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

/**
 * Loads the configuration of a cluster as kubectl does, from the first of: the given file; the files of `$KUBECONFIG`,
 * merged; `~/.kube/config`; in a pod, its service account.
 */
export async function loadClientConfig(options: LoadConfigOptions = {}): Promise<ClientConfig> {
  const { host = systemConfigHost, clock = systemClock } = options
  const machine: ConfigMachine = { host, clock }
  const kubeconfig = await loadKubeconfig(options.kubeconfig, host)
  if (kubeconfig !== undefined) return resolveContext(kubeconfig, options, machine)
  if (isInCluster(machine)) {
    const config = await inClusterConfig(machine)
    return options.namespace === undefined ? config : { ...config, namespace: options.namespace }
  }
  const files = candidates(host)
  throw new ConfigError(
    `No cluster is configured: ${files.join(' and ')} ${files.length === 1 ? 'is' : 'are'} missing or empty, and this is not a pod. Set KUBECONFIG or specify a kubeconfig`,
    undefined,
    'KW_NO_CLUSTER',
  )
}

/** The kubeconfig of the given file or of the environment; undefined when the environment has none. */
export async function loadKubeconfig(
  explicit: string | undefined,
  host: ConfigHost = systemConfigHost,
): Promise<Kubeconfig | undefined> {
  if (explicit !== undefined) {
    const found = await readConfig(explicit, host)
    if (found) return found
    throw new ConfigError(`${explicit}: the file does not exist`)
  }
  const found = await Promise.all(candidates(host).map((path) => readConfig(path, host)))
  const configs = found.filter((config) => config !== undefined)
  const merged = mergeKubeconfigs(configs)
  // Empty files count as missing, so that a pod can use its service account.
  const isEmpty = merged.currentContext === undefined && merged.clusters.size + merged.contexts.size === 0
  return isEmpty ? undefined : merged
}

function candidates({ env, home }: ConfigHost): string[] {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  return listed.length > 0 ? [...new Set(listed)] : [join(home, '.kube', 'config')]
}

async function readConfig(path: string, host: ConfigHost): Promise<Kubeconfig | undefined> {
  let text: string
  try {
    text = await host.readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new ConfigError(`${path}: cannot read the file: ${errorText(error)}`, error)
  }
  return parseKubeconfig(text, path)
}
