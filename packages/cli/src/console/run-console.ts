import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { AsyncDisposer, errorText, UsageError, withDeadline } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { debugAddress } from '@kubewright/console'
import { connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import type { consoleArguments, consoleCommandFlags } from './console-command.ts'
import { serveConsole } from './serve-console.ts'

/** Serves the console of a cluster or of a recording until the signal aborts. */
export async function runConsole(
  { flags, args }: CommandInput<typeof consoleCommandFlags, typeof consoleArguments>,
  context: CommandContext,
): Promise<number> {
  const { out, note, signal } = context
  const disposer = new AsyncDisposer()
  try {
    const settings = {
      readOnly: flags['read-only'],
      levers: flags.levers,
      operators: flags.operator.map(debugAddress),
      port: flags.port,
    }
    const subject =
      args.file === undefined
        ? await connectSubject(flags, context, disposer)
        : { recording: await readRecording(args.file), cluster: basename(args.file) }
    const console = disposer.use(await serveConsole({ ...subject, ...settings }, { ...context, open: flags.open }))
    out(`console ${console.link}`)
    note('The link works once. Press Ctrl-C to stop')
    await aborted(signal)
    return 0
  } finally {
    await disposer[Symbol.asyncDispose]()
  }
}

async function connectSubject(
  flags: CommandInput<typeof consoleCommandFlags>['flags'],
  context: CommandContext,
  disposer: AsyncDisposer,
): Promise<{ readonly client: ApiClient; readonly cluster: string }> {
  const { clock, terminal } = context
  const client = disposer.use(await connectCluster(flags, context))
  const { host } = client.rest.transport
  // A page about a cluster that does not answer would only repeat this error.
  await withDeadline(clock, '10s', `${host} to answer`, (limit) =>
    client.rest.json({ method: 'GET', path: '/version', signal: limit }),
  )
  terminal?.progress?.clear()
  return { client, cluster: flags.context ?? host }
}

async function readRecording(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new UsageError(`FILE: cannot read "${file}": ${errorText(error)}`)
  }
}
