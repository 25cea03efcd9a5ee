import { formatDuration } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { Command, CommandContext } from '../command/command.ts'
import { lineLogger } from './log-lines.ts'
import { describeBackend } from './open-backend.ts'
import { type ServedControlPlane, serveControlPlane } from './serve-control-plane.ts'
import { parseUpOptions, type UpOptions, upHelp } from './up-options.ts'

/** Serves a Kubernetes API until the signal aborts. */
export const upCommand: Command = {
  name: 'up',
  summary: 'Start a Kubernetes control plane on this machine',
  help: upHelp,
  endsInOrder: true,
  run: (args, context) => up(parseUpOptions(args), context),
}

async function up(options: UpOptions, context: CommandContext): Promise<number> {
  const { clock, signal, out, note } = context
  const served = await serveControlPlane(options, context, lineLogger(note, options.verbose))
  try {
    const { url, kubeconfig } = served
    // Whoever stopped it while it started does not want to be told how to use it.
    if (!signal.aborted) {
      out(`ready ${url} kubeconfig=${kubeconfig} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
      for (const line of hints(options, served)) note(line)
    }
    await aborted(signal)
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
  const objects = await objectsIn(served.store)
  await served[Symbol.asyncDispose]()
  const lived = formatDuration(Math.round((clock.monotonic() - context.startedAt) / 1000) * 1000)
  note(`Stopped after ${lived}: ${plural(served.requests(), 'request')} answered, ${kept(options, objects)}`)
  return 0
}

/** What is served and how to use it. */
function hints(options: UpOptions, { kubeconfig, controllers }: ServedControlPlane): string[] {
  const { nodes } = options
  const running = options.controllers === 'all' ? `all ${controllers.length} controllers` : controllers.join(', ')
  return [
    `Kubernetes v1.35 API, objects in ${describeBackend(options.backend)}`,
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
    controllers.length === 0 ? 'Runs no controllers' : `Runs ${running}`,
    nodes === 0 ? 'There are no nodes, so pods stay pending: see --nodes' : `${plural(nodes, 'simulated node')}`,
    'Press Ctrl-C to stop',
  ]
}

function kept({ backend }: UpOptions, objects: number | undefined): string {
  if (objects === undefined) return 'the store does not answer'
  const count = plural(objects, 'object')
  return backend.kind === 'memory' ? `${count} forgotten` : `${count} kept in ${describeBackend(backend)}`
}

async function objectsIn(store: Store): Promise<number | undefined> {
  try {
    const { entries, remaining } = await store.list({ prefix: '/registry/', limit: 1 })
    return entries.length + remaining
  } catch {
    // The summary is no reason to fail while stopping.
    return undefined
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
