import { parseArgs } from 'node:util'
import { startControlPlane } from '@kubewright/controlplane'
import { type ApiClient, connect } from 'kubewright/client'
import { ServiceAccount } from 'kubewright/k8s'

/** The cluster that an example uses. */
export interface OpenCluster extends AsyncDisposable {
  readonly client: ApiClient
  /** Whether the cluster runs inside this program and ends with it. */
  readonly isEmbedded: boolean
}

/** Options of {@link openCluster}. */
export interface OpenClusterOptions {
  /** @default the arguments of this program */
  readonly args?: readonly string[]
  /** Receives the warnings of the server. @default printed to standard error */
  readonly onWarning?: (text: string) => void
  /** The controllers of an embedded cluster. @default all, and a node that runs pods */
  readonly controllers?: readonly string[]
}

/** Opens the cluster of `--kubeconfig FILE`, or else starts an embedded one. */
export async function openCluster(options: OpenClusterOptions = {}): Promise<OpenCluster> {
  const { args = process.argv.slice(2), onWarning = (text) => console.error(`Warning: ${text}`) } = options
  const { values } = parseArgs({ args: [...args], options: { kubeconfig: { type: 'string' } } })
  if (values.kubeconfig !== undefined) {
    const client = await connect({ kubeconfig: values.kubeconfig, onWarning })
    return { client, isEmbedded: false, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
  }
  const { controllers } = options
  const plane = await startControlPlane(controllers === undefined ? {} : { controllers, nodes: 0 })
  const client = plane.client({ onWarning })
  // Pods need this service account; the controller that creates it may not have run yet.
  await client.apply(ServiceAccount({ metadata: { name: 'default' } }))
  return { client, isEmbedded: true, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() }
}

/** Runs a program until it ends or is stopped by Ctrl-C or SIGTERM. */
export async function runUntilStopped(program: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  try {
    await program(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
}
