import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError, withDeadline } from '@kubewright/base'
import { type ApiClient, connect, systemConfigHost } from '@kubewright/client'
import type { CommandContext } from '../command/command-context.ts'
import { defaultKubeconfig } from './plane-flags.ts'

/**
 * The absolute path of the file for the kubeconfig of a server at this port. Never the kubeconfig of another server that runs: in place of
 * the default file, one with the port in its name is used, and any other file is an error.
 */
export async function freeKubeconfig(
  wanted: string,
  port: number,
  context: Pick<CommandContext, 'clock' | 'env'>,
): Promise<string> {
  const file = resolve(wanted)
  const server = await runningServer(file, port, context)
  if (server === undefined) return file
  if (wanted === defaultKubeconfig) return `${file}-${port}`
  throw new UsageError(
    `--kubeconfig ${wanted} is the kubeconfig of a running control plane at ${server}: stop that control plane, or choose another file`,
  )
}

/** The address of the server in a kubeconfig if it answers and is not the server at this port. */
async function runningServer(
  file: string,
  port: number,
  { clock, env }: Pick<CommandContext, 'clock' | 'env'>,
): Promise<string | undefined> {
  if (!existsSync(file)) return undefined
  let client: ApiClient
  try {
    client = await connect({ kubeconfig: file, clock, host: { ...systemConfigHost, env } })
  } catch {
    // Not a kubeconfig.
    return undefined
  }
  const { transport } = client.rest
  const { host } = transport
  try {
    // This process listens there, so the server of the file has ended.
    if (host.endsWith(`127.0.0.1:${port}`)) return undefined
    // One attempt without credentials: any response shows that the server runs and has the CA of the file.
    const response = await withDeadline(clock, '2s', `${host} to answer`, (signal) =>
      transport.send({ method: 'GET', path: '/version', signal }),
    )
    response.body.discard()
    return host
  } catch {
    return undefined
  } finally {
    await client[Symbol.asyncDispose]()
  }
}
