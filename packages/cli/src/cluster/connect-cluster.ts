import { type ApiClient, connect, systemConfigHost } from '@kubewright/client'
import type { CommandContext } from '../command/command-context.ts'

/** Selects a cluster: the values of the connection flags. */
export interface ClusterChoice {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/** A client for the cluster that the flags select, else for that of the environment. The caller disposes it. */
export async function connectCluster(
  { kubeconfig, context }: ClusterChoice,
  { env, clock, terminal }: Pick<CommandContext, 'env' | 'clock' | 'terminal'>,
): Promise<ApiClient> {
  const client = await connect({ kubeconfig, context, clock, host: { ...systemConfigHost, env } })
  terminal?.progress?.show(`Connecting to ${client.rest.transport.host}`)
  return client
}
