import { open as openInspector } from 'node:inspector'
import { type Clock, type Timer, UsageError } from '@kubewright/base'
import type { Manager, Operator, PolicyRule, RunHost, ServedWebhooks, ServeWebhooksOptions } from '@kubewright/runtime'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { findProgram } from '../entry/find-entry.ts'
import { type LoadedOperator, loadOperator } from '../entry/load-operator.ts'
import { projectRuntime, type Runtime } from '../entry/project-runtime.ts'
import { interruptedCode } from '../terminal/interrupted-error.ts'
import { ActivityLog } from './activity-log.ts'
import { logReviews } from './log-reviews.ts'
import type { ParentChannel } from './parent-channel.ts'

// Defaults for development: no port of the machine is taken, and a reload is fast. The user's flags come later and win.
const defaultFlags = [
  '--leader-elect=false',
  '--health-probe-bind-address=0',
  '--metrics-bind-address=0',
  '--webhook-port=0',
  '--webhook-url=https://127.0.0.1:0',
  '--graceful-shutdown-timeout=5s',
]

const farewellMillis = 50

/**
 * The operator process of `dev`. Loads an operator, reports it to the parent, waits for `go`, then runs the operator against the
 * development cluster until the parent sends `stop` or exits. `args` are the module and the flags of the operator. Never returns: it
 * exits the process.
 */
export async function operatorProcess(
  args: readonly string[],
  context: CommandContext,
  channel: ParentChannel,
): Promise<never> {
  const [module, ...operatorFlags] = args
  const entry = await findProgram(module, folderOf(context))
  const { out: write, clock, terminal } = context
  const log = new ActivityLog({ write, clock, terminal, project: entry.project })
  const go = new Promise<number | undefined>((resolve) =>
    channel.onMessage((message) => message.type === 'go' && resolve(message.inspect)),
  )
  const stop = new Promise<void>((resolve) => {
    channel.onMessage(({ type }) => type === 'stop' && resolve())
    channel.onEnd(resolve)
    context.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let loaded: LoadedOperator | undefined
  // Loading runs the user's code, which may take any time: a stop must not wait for it.
  void stop.then(() => loaded === undefined && process.exit(context.signal.aborted ? interruptedCode : 0))
  try {
    loaded = await loadOperator(entry, context.clock)
  } catch (error) {
    if (error instanceof UsageError) log.write(entry.name, error.message, 'red')
    else log.problem(entry.name, 'cannot be loaded', error)
    return process.exit(1)
  }
  const runtime = await projectRuntime(entry.file)
  const { operator, options } = loaded
  channel.send({
    type: 'loaded',
    operator: operator.name,
    controllers: operator.controllers.map(({ name }) => name),
    webhooks: operator.webhooks.length,
    conversions: operator.conversions.length,
    definitions: runtime.definitionsOf(operator),
    rules: rulesOf(operator, runtime),
  })
  if ((await Promise.race([go.then(() => true), stop.then(() => false)])) === false) return process.exit(0)
  const port = await go
  // Not earlier: the previous process has released the port only now.
  if (port !== undefined) openInspector(port, '127.0.0.1')
  const host = devHost(runtime, log, stop, [...defaultFlags, '--log-format=json', ...operatorFlags])
  let current: Manager | undefined
  channel.onMessage((message) => {
    if (message.type === 'report') {
      const report = current && runtime.debugReport({ manager: current, clock: context.clock })
      channel.send({ type: 'report', report })
    } else if (message.type === 'control') {
      const runner = current?.runners.find(({ name }) => name === message.controller)
      // A project may use an older runtime, whose controllers cannot be paused.
      runner?.[message.command]?.()
      channel.send({ type: 'controlled', isKnown: runner?.[message.command] !== undefined })
    }
  })
  const code = await runtime.runWith(operator, host, {
    ...options,
    onManager: (manager) => {
      options.onManager?.(manager)
      follow(manager, context.clock, log, channel)
      current = manager
    },
  })
  loaded.ended()
  // The program may do a little more after its `run`. Then the process exits, whatever timers or sockets are left.
  await context.clock.sleep(farewellMillis)
  return process.exit(code)
}

/** The rules of the roles that `generate` writes, merged over all namespaces. */
function rulesOf(operator: Operator, { accessOf, mergeRules }: Runtime): readonly PolicyRule[] {
  const leaderElection = operator.sharding === false && (operator.leaderElection || {})
  const options = { secureMetrics: false, managedCertificates: false }
  const { cluster, watched, own, elsewhere } = accessOf({ ...operator, leaderElection }, options)
  return mergeRules([...cluster, ...watched, ...own, ...[...elsewhere.values()].flat()])
}

/** The host of an operator under `dev`: it is stopped over the channel, and its log lines go to the activity log. */
function devHost(runtime: Runtime, log: ActivityLog, stop: Promise<void>, args: readonly string[]): RunHost {
  const listen = (options: ServeWebhooksOptions): Promise<ServedWebhooks> =>
    runtime.serveWebhooks({ ...options, host: '127.0.0.1', handler: logReviews(options.handler, log) })
  return {
    ...runtime.systemRunHost(),
    args,
    note: (line) => log.record(/^See \S+ --help$/.test(line) ? 'See kubewright run -- --help' : line),
    listenForWebhooks: listen,
    onStopSignal: (listener) => {
      let isDisposed = false
      void stop.then(() => {
        if (!isDisposed) listener('SIGTERM')
      })
      return {
        [Symbol.dispose]: () => {
          isDisposed = true
        },
      }
    },
  }
}

// An operator counts as idle after this long without a reconcile.
const quietMillis = 500

/** Logs each reconcile, and reports to the parent when the operator runs and when it is idle. */
function follow(manager: Manager, clock: Clock, log: ActivityLog, channel: ParentChannel): void {
  let timer: Timer | undefined
  const checkLater = (): void => {
    timer?.cancel()
    timer = clock.setTimer(quietMillis, () => {
      const isBusy = manager.runners.some((runner) => {
        const { ready, processing } = runner.queue()
        return ready.length + processing.length > 0
      })
      if (isBusy) checkLater()
      else channel.send({ type: 'idle' })
    })
  }
  const kinds = new Map(
    manager.operator?.controllers.map(({ name, kind }) => [name, kind && `${kind.apiVersion} ${kind.kind}`]),
  )
  for (const runner of manager.runners) {
    runner.onReconciled((record) => {
      log.reconciled(record, kinds.get(record.controller))
      checkLater()
    })
  }
  void manager.elected.then(() => {
    channel.send({ type: 'ready' })
    checkLater()
  })
}
