import type { Clock, Timer } from '@kubewright/base'
import type { Manager, RunHost, ServedWebhooks, ServeWebhooksOptions } from '@kubewright/runtime'
import type { CommandContext } from '../command/command.ts'
import { findEntry } from '../entry/find-entry.ts'
import { type LoadedOperator, loadOperator } from '../entry/load-operator.ts'
import { projectRuntime, type Runtime } from '../entry/project-runtime.ts'
import { interruptedCode } from '../run-command.ts'
import { UsageError } from '../usage-error.ts'
import { Story } from './activity-log.ts'
import type { FromOperator, ToOperator } from './dev-messages.ts'
import { tellReviews } from './log-reviews.ts'

/** The variable that makes `kubewright dev` be the process of the operator instead. */
export const operatorProcessVariable = 'KUBEWRIGHT_DEV_OPERATOR'

/** The channel to the process that started this one. */
export interface ParentChannel {
  send(message: FromOperator): void
  onMessage(listener: (message: ToOperator) => void): void
  /** Called when the other one is gone. */
  onEnd(listener: () => void): void
}

// Nothing of a developer's machine is asked for unless they say so, and reloading must not take long.
const flags = [
  '--leader-elect=false',
  '--health-probe-bind-address=0',
  '--metrics-bind-address=0',
  '--webhook-port=0',
  '--webhook-url=https://127.0.0.1:0',
  '--graceful-shutdown-timeout=5s',
]

const farewellMillis = 50

/**
 * Loads an operator, tells what it needs, waits for the word, and runs it against the development cluster until told to stop. What
 * happens is told as a story on the output.
 */
export async function operatorProcess(
  args: readonly string[],
  context: CommandContext,
  channel: ParentChannel,
): Promise<never> {
  const [given, , ...operatorFlags] = args
  const entry = await findEntry(given, process.cwd())
  const { out: write, clock, terminal } = context
  const story = new Story({ write, clock, terminal, project: entry.project })
  const go = new Promise<void>((resolve) => channel.onMessage(({ type }) => type === 'go' && resolve()))
  const stop = new Promise<void>((resolve) => {
    channel.onMessage(({ type }) => type === 'stop' && resolve())
    channel.onEnd(resolve)
    context.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  let loaded: LoadedOperator | undefined
  // Even while it is being loaded, which may take as long as the program likes.
  void stop.then(() => loaded === undefined && process.exit(context.signal.aborted ? interruptedCode : 0))
  try {
    loaded = await loadOperator(entry, context.clock)
  } catch (error) {
    if (error instanceof UsageError) story.tell(entry.name, error.message, 'red')
    else story.problem(entry.name, 'cannot be loaded', error)
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
  })
  if ((await Promise.race([go.then(() => true), stop.then(() => false)])) === false) return process.exit(0)
  const host = devHost(runtime, story, stop, [...flags, '--log-format=json', ...operatorFlags])
  const code = await runtime.runWith(operator, host, {
    ...options,
    onManager: (manager) => {
      options.onManager?.(manager)
      follow(manager, context.clock, story, channel)
    },
  })
  loaded.ended()
  // The program may have something to do after its run. Then nothing of it may keep the process, and those who wait for it, busy.
  await context.clock.sleep(farewellMillis)
  return process.exit(code)
}

/** The world of an operator under `dev`: it hears of its end over the channel, and its log becomes part of the story. */
function devHost(runtime: Runtime, story: Story, stop: Promise<void>, args: readonly string[]): RunHost {
  const listen = (options: ServeWebhooksOptions): Promise<ServedWebhooks> =>
    runtime.serveWebhooks({ ...options, host: '127.0.0.1', handler: tellReviews(options.handler, story) })
  return {
    ...runtime.systemRunHost(),
    args,
    note: (line) => story.log(/^See \S+ --help$/.test(line) ? 'See kubewright run -- --help' : line),
    listenForWebhooks: listen,
    onStopSignal: (listener) => {
      let isOver = false
      void stop.then(() => {
        if (!isOver) listener('SIGTERM')
      })
      return {
        [Symbol.dispose]: () => {
          isOver = true
        },
      }
    },
  }
}

// So long must nothing have happened for an operator to be idle.
const quietMillis = 500

/** Tells each reconcile, and the other process when the operator works and when it has nothing to do. */
function follow(manager: Manager, clock: Clock, story: Story, channel: ParentChannel): void {
  let timer: Timer | undefined
  const lookAgain = (): void => {
    timer?.cancel()
    timer = clock.setTimer(quietMillis, () => {
      const isBusy = manager.runners.some((runner) => {
        const { ready, processing } = runner.queue()
        return ready.length + processing.length > 0
      })
      if (isBusy) lookAgain()
      else channel.send({ type: 'idle' })
    })
  }
  const kinds = new Map(
    manager.operator?.controllers.map(({ name, kind }) => [name, kind && `${kind.apiVersion} ${kind.kind}`]),
  )
  for (const runner of manager.runners) {
    runner.onReconciled((record) => {
      story.reconciled(record, kinds.get(record.controller))
      lookAgain()
    })
  }
  void manager.elected.then(() => {
    channel.send({ type: 'ready' })
    lookAgain()
  })
}
