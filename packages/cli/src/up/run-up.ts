import { formatDuration } from '@kubewright/base'
import type { ControlPlane, ServedPlane } from '@kubewright/controlplane'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import { lineLogger } from '../text/line-logger.ts'
import { plural } from '../text/plural.ts'
import { exposure } from './exposure.ts'
import { type FlagConfig, upConfig } from './plane-config.ts'
import { type ServedWithFile, servePlane } from './serve-plane.ts'
import { describeStore } from './store-config.ts'
import type { upFlags } from './up-command.ts'

/** Serves a control plane until the signal aborts. */
export async function runUp({ flags }: CommandInput<typeof upFlags>, context: CommandContext): Promise<number> {
  const { clock, signal, out, note } = context
  const { config, warnings } = await upConfig(flags, context)
  for (const warning of warnings) note(`Warning: ${warning}`)
  const log = lineLogger(note, flags.verbose)
  const served = await servePlane({ ...config, clock, log }, flags.kubeconfig, context)
  try {
    const { url, file } = served
    const link = flags.console || flags.open ? await startConsole(served, flags.open, context) : undefined
    // A user who interrupted the start needs no hints.
    if (!signal.aborted) {
      out(`ready ${url} kubeconfig=${file} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
      for (const line of [...exposure(served.exposed, config), ...hints(config, served, flags.nodes)]) note(line)
      if (link !== undefined) note(`Console: ${link} (works once)`)
      context.onReady?.()
    }
    await aborted(signal)
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
  await served.drain()
  const objects = await objectsIn(served.plane)
  await served[Symbol.asyncDispose]()
  const lived = formatDuration(Math.round((clock.monotonic() - context.startedAt) / 1000) * 1000)
  note(`Stopped after ${lived}: ${plural(served.requests(), 'request')} answered, ${objectSummary(config, objects)}`)
  return 0
}

/** Starts the console. It ends with the control plane. Returns a link. */
async function startConsole(served: ServedPlane, open: boolean, context: CommandContext): Promise<string> {
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
function hints(config: FlagConfig, { file, plane }: ServedWithFile, nodes: number): string[] {
  const { names } = plane.controllers
  const isShared = config.store.kind === 'etcd'
  const running = config.controllers === 'all' ? `all ${names.length} controllers` : names.join(', ')
  return [
    `Kubernetes v${plane.server.parts.resources.release.facts.version} API, objects in ${describeStore(config.store)}`,
    `  export KUBECONFIG=${file}`,
    '  kubectl get namespaces',
    names.length === 0 ? 'Runs no controllers' : `Runs ${running}${isShared ? ' while it holds their lease' : ''}`,
    nodesLine(config, nodes),
    'Press Ctrl-C to stop',
  ]
}

function objectSummary({ store }: FlagConfig, objects: number | undefined): string {
  if (objects === undefined) return 'the store does not answer'
  const count = plural(objects, 'object')
  return store.kind === 'memory' ? `${count} discarded` : `${count} kept in ${describeStore(store)}`
}

async function objectsIn({ server }: ControlPlane): Promise<number | undefined> {
  try {
    const { entries, remaining } = await server.parts.registry.store.list({ prefix: '/registry/', limit: 1 })
    return entries.length + remaining
  } catch {
    // The count is for the summary only: a store that fails must not fail the shutdown.
    return undefined
  }
}

function nodesLine({ scheduler }: FlagConfig, nodes: number): string {
  if (nodes > 0) return `${plural(nodes, 'simulated node')}`
  if (scheduler) return 'There are no simulated nodes: pods wait for nodes that join'
  return 'There are no nodes, so pods stay pending: see --nodes'
}
