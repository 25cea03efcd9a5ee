import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { AsyncDisposer, isKubewrightError, withDeadline } from '@kubewright/base'
import { type ApiClient, connect, systemConfigHost } from '@kubewright/client'
import type { ClusterLevers, OperatorSource } from '@kubewright/console'
import { writePrivateFile } from '@kubewright/storage'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { programArgument } from '../entry/entry-argument.ts'
import { findProgram } from '../entry/find-entry.ts'
import { aborted } from '../terminal/aborted.ts'
import { lineLogger } from '../text/line-logger.ts'
import { type FlagConfig, planeConfig } from '../up/plane-config.ts'
import { servePlane } from '../up/serve-plane.ts'
import { describeStore } from '../up/store-config.ts'
import { ActivityLog } from './activity-log.ts'
import { checkWatched } from './check-watched.ts'
import type { devFlags } from './dev-command.ts'
import { DevSession } from './dev-session.ts'
import { findServer } from './find-server.ts'
import { grantRoles, type OperatorIdentity } from './grant-roles.ts'
import type { Loaded } from './operator-child.ts'
import { operatorKubeconfig } from './operator-kubeconfig.ts'
import { removeLocalWebhooks } from './remove-local-webhooks.ts'
import { watchProject } from './watch-project.ts'

/** Serves a control plane and keeps an operator running on it until the signal aborts. */
export async function runDev(
  { flags, args, forwarded }: CommandInput<typeof devFlags, typeof programArgument>,
  context: CommandContext,
): Promise<number> {
  const config = await planeConfig(flags, { kind: 'memory' }, context)
  const { clock, out, note, env, signal, operatorProgram: program = [] } = context
  const folder = folderOf(context)
  const entry = await findProgram(args.entry, folder)
  const folders = [entry.project, ...flags.watch.map((watched) => resolve(folder, watched))]
  checkWatched(folders, homedir())
  const log = new ActivityLog({ write: out, clock, terminal: context.terminal, project: entry.project })
  const disposer = new AsyncDisposer()
  try {
    const isShared = flags.server !== undefined
    const { url, kubeconfig, client, levers } = isShared
      ? await attach(findServer(flags.server, folder, env), context, disposer)
      : await start({ ...config, log: lineLogger(note, flags.verbose) }, flags.kubeconfig, context, disposer)
    out(`ready ${url} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
    note(`Reloads when code in ${folders.join(' or ')} changes`)
    const objects = isShared ? 'the running control plane' : describeStore(config.store)
    note(`Objects in ${objects}. For kubectl, in another terminal:`)
    note(`  export KUBECONFIG=${kubeconfig}`)
    let isHintShown = false
    const showHint = ({ definitions }: Loaded): void => {
      const [first] = definitions
      if (first && !isHintShown) note(`List its objects: kubectl get ${first.metadata.name}. Press Ctrl-C to stop`)
      isHintShown = true
    }
    const once = firstResult(flags.once)
    // An earlier run on the same objects may have been killed before it removed them. Others may use a shared control plane now.
    if (!isShared && config.store.kind !== 'memory') await removeLocalWebhooks(client)
    const limited = flags.rights === 'roles' ? await limitedAccess(kubeconfig, folder, disposer) : undefined
    const session = disposer.use(
      new DevSession({
        child: {
          program,
          env,
          clock,
          kubeconfig: limited?.file ?? kubeconfig,
          entry: entry.file,
          flags: forwarded,
          inspect: flags.inspect,
          onIdle: () => once.settle(0),
        },
        client,
        clock,
        log,
        entry: entry.name,
        ...(limited === undefined
          ? {}
          : {
              grant: async ({ operator, rules, webhooks, conversions }) => {
                const hasWebhooks = webhooks + conversions > 0
                await limited.use(await grantRoles(client, { operator, rules, webhooks: hasWebhooks }, clock))
              },
            }),
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
    if (!flags.once)
      await showConsole(session, { client, url, levers, entry: entry.name, open: flags.open }, context, disposer)
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

/** Starts the console and prints its link. */
async function showConsole(
  session: DevSession,
  { client, url, entry, levers, open }: Omit<Plane, 'kubeconfig'> & { readonly entry: string; readonly open: boolean },
  context: CommandContext,
  disposer: AsyncDisposer,
): Promise<void> {
  const { note } = context
  const { serveConsole } = await import('../console/serve-console.ts')
  const operators: OperatorSource[] = [
    {
      name: entry,
      report: (signal) => session.report(signal),
      control: (controller, command) => session.control(controller, command),
    },
  ]
  try {
    const console = disposer.use(
      await serveConsole({ client, cluster: url, operators, levers, recordFrom: 'start' }, { ...context, open }),
    )
    note(`Console: ${console.link} (works once)`)
  } catch (error) {
    // A checkout that was not built has no page.
    if (!isKubewrightError(error, 'KW_CONSOLE_PAGE')) throw error
  }
}

/** A control plane, with a client that has all permissions. */
interface Plane {
  readonly url: string
  readonly kubeconfig: string
  readonly client: ApiClient
  /** The levers of the console. */
  readonly levers: boolean | ClusterLevers
}

async function start(
  config: FlagConfig,
  kubeconfig: string,
  context: CommandContext,
  disposer: AsyncDisposer,
): Promise<Plane> {
  const { clock } = context
  const served = disposer.use(await servePlane({ ...config, clock, levers: true }, kubeconfig, context))
  const { url, file, plane } = served
  return { url, kubeconfig: file, client: plane.client({ isExempt: true }), levers: plane.levers ?? true }
}

/** Connects to a running control plane. Throws if it does not answer. */
async function attach(kubeconfig: string, { clock, env }: CommandContext, disposer: AsyncDisposer): Promise<Plane> {
  const client = disposer.use(await connect({ kubeconfig, clock, host: { ...systemConfigHost, env } }))
  const { host } = client.rest.transport
  await withDeadline(clock, '10s', `${host} to answer`, (signal) =>
    client.rest.json({ method: 'GET', path: '/version', signal }),
  )
  return { url: host.includes('://') ? host : `https://${host}`, kubeconfig, client, levers: true }
}

/**
 * A kubeconfig for the operator process beside that of the user. It has all permissions while the first operator is loaded, because the
 * operator is not known yet, and those of the operator from then on. It is removed at the end.
 */
async function limitedAccess(
  kubeconfig: string,
  folder: string,
  disposer: AsyncDisposer,
): Promise<{ readonly file: string; use(identity: OperatorIdentity): Promise<void> }> {
  const file = join(folder, '.kubewright', `operator-${process.pid}.kubeconfig`)
  await writePrivateFile(file, await operatorKubeconfig(kubeconfig))
  disposer.defer(() => rm(file, { force: true }))
  return { file, use: async (identity) => writePrivateFile(file, await operatorKubeconfig(kubeconfig, identity)) }
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
