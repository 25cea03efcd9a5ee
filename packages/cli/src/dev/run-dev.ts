import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { AsyncDisposer } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { programArgument } from '../entry/entry-argument.ts'
import { findProgram } from '../entry/find-entry.ts'
import { aborted } from '../terminal/aborted.ts'
import { lineLogger } from '../up/log-lines.ts'
import { describeBackend } from '../up/open-backend.ts'
import { planeOptions } from '../up/plane-options.ts'
import { serveControlPlane } from '../up/serve-control-plane.ts'
import { ActivityLog } from './activity-log.ts'
import { checkWatched } from './check-watched.ts'
import type { devFlags } from './dev-command.ts'
import { DevSession } from './dev-session.ts'
import type { Loaded } from './operator-child.ts'
import { removeLocalWebhooks } from './remove-local-webhooks.ts'
import { watchProject } from './watch-project.ts'

/** Serves a control plane and keeps an operator running on it until the signal aborts. */
export async function runDev(
  { flags, args, forwarded }: CommandInput<typeof devFlags, typeof programArgument>,
  context: CommandContext,
): Promise<number> {
  const plane = planeOptions(flags, { kind: 'memory' })
  const { clock, out, note, env, signal, operatorProgram: program = [] } = context
  const folder = folderOf(context)
  const entry = await findProgram(args.entry, folder)
  const folders = [entry.project, ...flags.watch.map((watched) => resolve(folder, watched))]
  checkWatched(folders, homedir())
  const log = new ActivityLog({ write: out, clock, terminal: context.terminal, project: entry.project })
  const disposer = new AsyncDisposer()
  try {
    const served = disposer.use(await serveControlPlane(plane, context, lineLogger(note, plane.verbose)))
    const { url, kubeconfig } = served
    out(`ready ${url} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
    note(`Reloads when code in ${folders.join(' or ')} changes`)
    note(`Objects in ${describeBackend(plane.backend)}. For kubectl, in another terminal:`)
    note(`  export KUBECONFIG=${kubeconfig}`)
    let isHintShown = false
    const showHint = ({ definitions }: Loaded): void => {
      const [first] = definitions
      if (first && !isHintShown) note(`List its objects: kubectl get ${first.metadata.name}. Press Ctrl-C to stop`)
      isHintShown = true
    }
    const once = firstResult(flags.once)
    const client = served.plane.client()
    // An earlier run on the same objects may have been killed before it removed them.
    if (plane.backend.kind !== 'memory') await removeLocalWebhooks(client)
    const session = disposer.use(
      new DevSession({
        child: {
          program,
          env,
          clock,
          kubeconfig,
          entry: entry.file,
          flags: forwarded,
          onIdle: () => once.settle(0),
        },
        client,
        clock,
        log,
        entry: entry.name,
        onLoaded: showHint,
        onFailed: () => once.settle(1),
        isOnce: flags.once,
      }),
    )
    const watching = await watchProject({
      folders,
      clock,
      onChange: (files) => {
        log.write(entry.name, `reloading because ${listed(files)} changed`)
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

/** A promise of the first exit code that is settled. It stays pending unless `--once` is on. */
function firstResult(isOnce: boolean): { readonly settled: Promise<number>; settle(code: number): void } {
  let settle: (code: number) => void = () => undefined
  const settled = new Promise<number>((resolve) => {
    if (isOnce) settle = resolve
  })
  return { settled, settle: (code) => settle(code) }
}

function listed(files: readonly string[]): string {
  return files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more` : files.join(', ')
}
