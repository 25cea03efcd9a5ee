import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { AsyncDisposer } from '@kubewright/base'
import type { Command, CommandContext } from '../command/command.ts'
import { findEntry } from '../entry/find-entry.ts'
import { lineLogger } from '../up/log-lines.ts'
import { describeBackend } from '../up/open-backend.ts'
import { serveControlPlane } from '../up/serve-control-plane.ts'
import { Story } from './activity-log.ts'
import { checkWatched } from './check-watched.ts'
import { type DevOptions, devHelp, parseDevOptions } from './dev-options.ts'
import { DevSession } from './dev-session.ts'
import type { Loaded } from './operator-child.ts'
import { operatorProcess, operatorProcessVariable } from './operator-process.ts'
import { parentChannel } from './parent-channel.ts'
import { forgetLocalWebhooks } from './remove-local-webhooks.ts'
import { watchProject } from './watch-project.ts'

/** Runs an operator on a control plane of its own and loads it again when its code changes, until the signal aborts. */
export const devCommand: Command = {
  name: 'dev',
  summary: 'Run an operator on its own control plane, and reload it on save',
  help: devHelp,
  endsInOrder: true,
  run: (args, context) => {
    const channel = context.env[operatorProcessVariable] === '1' ? parentChannel() : undefined
    return channel ? operatorProcess(args, context, channel) : dev(parseDevOptions(args), context)
  },
}

async function dev(options: DevOptions, context: CommandContext): Promise<number> {
  const { clock, out, note, env, signal, program = [] } = context
  const entry = await findEntry(options.entry, process.cwd())
  const folders = [entry.project, ...options.watch.map((folder) => resolve(folder))]
  checkWatched(folders, homedir())
  const story = new Story({ write: out, clock, terminal: context.terminal, project: entry.project })
  const disposer = new AsyncDisposer()
  try {
    const served = disposer.use(
      await serveControlPlane(options.plane, context, lineLogger(note, options.plane.verbose)),
    )
    const { url, kubeconfig } = served
    out(`ready ${url} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
    note(`Reloads when code in ${folders.join(' or ')} changes`)
    note(`Objects in ${describeBackend(options.plane.backend)}. For kubectl, in another terminal:`)
    note(`  export KUBECONFIG=${kubeconfig}`)
    let toldHow = false
    const tellHow = ({ definitions }: Loaded): void => {
      const [first] = definitions
      if (first && !toldHow) note(`Look at what it does: kubectl get ${first.metadata.name}. Press Ctrl-C to stop`)
      toldHow = true
    }
    const once = settler(options.once)
    const client = served.plane.client()
    // Of an earlier run on the same objects that was cut off.
    if (options.plane.backend.kind !== 'memory') await forgetLocalWebhooks(client)
    const session = disposer.use(
      new DevSession({
        child: {
          program,
          env,
          clock,
          kubeconfig,
          entry: entry.file,
          flags: options.flags,
          onIdle: () => once.settle(0),
        },
        client,
        clock,
        story,
        entry: entry.name,
        onLoaded: tellHow,
        onFailed: () => once.settle(1),
        isOnce: options.once,
      }),
    )
    const watching = await watchProject({
      folders,
      clock,
      onChange: (files) => {
        story.tell(entry.name, `reloads, as ${listed(files)} changed`)
        session.load()
      },
    })
    disposer.defer(async () => watching[Symbol.dispose]())
    session.load()
    const code = await Promise.race([once.settled, aborted(signal).then(() => 0)])
    note('Stopping')
    await disposer[Symbol.asyncDispose]()
    return code
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

/** A promise that is settled by the first who does, if anybody may. */
function settler(isOn: boolean): { readonly settled: Promise<number>; settle(code: number): void } {
  let settle: (code: number) => void = () => undefined
  const settled = new Promise<number>((resolve) => {
    if (isOn) settle = resolve
  })
  return { settled, settle: (code) => settle(code) }
}

function listed(files: readonly string[]): string {
  return files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more` : files.join(', ')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
