import { AsyncDisposer, withDeadline } from '@kubewright/base'
import { debugAddress } from '@kubewright/console'
import { connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import type { consoleCommandFlags } from './console-command.ts'
import { serveConsole } from './serve-console.ts'

/** Serves the console until the signal aborts. */
export async function runConsole(
  { flags }: CommandInput<typeof consoleCommandFlags>,
  context: CommandContext,
): Promise<number> {
  const { clock, out, note, signal, terminal } = context
  const disposer = new AsyncDisposer()
  try {
    const client = disposer.use(await connectCluster(flags, context))
    const { host } = client.rest.transport
    // A page about a cluster that does not answer would only repeat this error.
    await withDeadline(clock, '10s', `${host} to answer`, (limit) =>
      client.rest.json({ method: 'GET', path: '/version', signal: limit }),
    )
    terminal?.progress?.clear()
    const console = disposer.use(
      await serveConsole(
        {
          client,
          cluster: flags.context ?? host,
          readOnly: flags['read-only'],
          operators: flags.operator.map(debugAddress),
          port: flags.port,
        },
        { ...context, open: flags.open },
      ),
    )
    out(`console ${console.link}`)
    note('The link works once. Press Ctrl-C to stop')
    await aborted(signal)
    return 0
  } finally {
    await disposer[Symbol.asyncDispose]()
  }
}
