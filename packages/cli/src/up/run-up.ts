import { formatDuration } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import { lineLogger } from '../text/line-logger.ts'
import { plural } from '../text/plural.ts'
import { apiServerOptions } from './api-server-options.ts'
import { describeBackend } from './open-backend.ts'
import { type PlaneOptions, planeOptions, withEtcdFlags, withServingFlags } from './plane-options.ts'
import { type ServedControlPlane, serveControlPlane } from './serve-control-plane.ts'
import type { upFlags } from './up-command.ts'

/** Serves a control plane until the signal aborts. */
export async function runUp({ flags }: CommandInput<typeof upFlags>, context: CommandContext): Promise<number> {
  const { clock, signal, out, note } = context
  const apiServer = await apiServerOptions(flags, flags['enable-admission-plugins'])
  const planned = planeOptions(flags, { kind: 'durable', folder: '.kubewright/data' })
  const { workers } = flags
  const hasConsole = flags.console || flags.open
  const options = {
    ...withServingFlags(withEtcdFlags(planned, flags), flags),
    apiServer,
    levers: hasConsole && workers === 0,
    workers,
    flags,
  }
  for (const warning of apiServer.warnings) note(`Warning: ${warning}`)
  const served = await serveControlPlane(options, context, lineLogger(note, options.verbose))
  try {
    const { url, kubeconfig } = served
    const link = hasConsole ? await startConsole(served, flags.open, context) : undefined
    // A user who interrupted the start needs no hints.
    if (!signal.aborted) {
      out(`ready ${url} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
      for (const line of [...served.exposure, ...hints(options, served)]) note(line)
      if (link !== undefined) note(`Console: ${link} (works once)`)
      context.onReady?.()
    }
    await aborted(signal)
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
  await served.drain()
  const objects = await objectsIn(served.store)
  await served[Symbol.asyncDispose]()
  const lived = formatDuration(Math.round((clock.monotonic() - context.startedAt) / 1000) * 1000)
  note(`Stopped after ${lived}: ${plural(served.requests(), 'request')} answered, ${objectSummary(options, objects)}`)
  return 0
}

/** Starts the console. It ends with the control plane. Returns a link. */
async function startConsole(served: ServedControlPlane, open: boolean, context: CommandContext): Promise<string> {
  const { serveConsole } = await import('../console/serve-console.ts')
  const { plane, url } = served
  const console = await serveConsole(
    { client: plane.client({ isExempt: true }), cluster: url, levers: plane.levers, recordFrom: 'start' },
    { ...context, open },
  )
  served.onStop(console)
  return console.link
}

/** Describes the control plane and how to use it. */
function hints(options: PlaneOptions, { kubeconfig, controllers }: ServedControlPlane): string[] {
  const isShared = options.backend.kind === 'etcd'
  const running = options.controllers === 'all' ? `all ${controllers.length} controllers` : controllers.join(', ')
  return [
    `Kubernetes v1.35 API, objects in ${describeBackend(options.backend)}`,
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
    controllers.length === 0
      ? 'Runs no controllers'
      : `Runs ${running}${isShared ? ' while it holds their lease' : ''}`,
    nodesLine(options),
    'Press Ctrl-C to stop',
  ]
}

function objectSummary({ backend }: PlaneOptions, objects: number | undefined): string {
  if (objects === undefined) return 'the store does not answer'
  const count = plural(objects, 'object')
  return backend.kind === 'memory' ? `${count} discarded` : `${count} kept in ${describeBackend(backend)}`
}

async function objectsIn(store: Store): Promise<number | undefined> {
  try {
    const { entries, remaining } = await store.list({ prefix: '/registry/', limit: 1 })
    return entries.length + remaining
  } catch {
    // The count is for the summary only: a store that fails must not fail the shutdown.
    return undefined
  }
}
function nodesLine({ nodes, apiServer }: PlaneOptions): string {
  if (nodes > 0) return `${plural(nodes, 'simulated node')}`
  if (apiServer?.scheduler) return 'There are no simulated nodes: pods wait for nodes that join'
  return 'There are no nodes, so pods stay pending: see --nodes'
}
