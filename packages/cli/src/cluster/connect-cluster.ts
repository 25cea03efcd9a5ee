import { type ApiClient, connect, systemConfigHost } from '@kubewright/client'
import type { CommandContext } from '../command/command.ts'

/** The flags that say which cluster, as kubectl has them; for `parseArgs`. */
export const clusterFlags: {
  readonly kubeconfig: { readonly type: 'string' }
  readonly context: { readonly type: 'string' }
} = { kubeconfig: { type: 'string' }, context: { type: 'string' } }

/** Which cluster was asked for. */
export interface ClusterChoice {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/** A client for the cluster of the flags, else of the environment. */
export async function connectCluster(
  { kubeconfig, context }: ClusterChoice,
  { env, clock, terminal }: Pick<CommandContext, 'env' | 'clock' | 'terminal'>,
): Promise<ApiClient> {
  const client = await connect({ kubeconfig, context, clock, host: { ...systemConfigHost, env } })
  terminal?.progress?.show(`Asking ${client.rest.transport.host}`)
  return client
}
