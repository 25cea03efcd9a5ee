import { abortable, type Clock, Deferred, errorText, KubewrightError, type Logger, onAbort } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { Runnable, RunnableContext } from '../define/runnable.ts'

/** Options of a {@link RunnableGroup}. */
export interface RunnableGroupOptions {
  readonly log: Logger
  readonly clock: Clock
  /** The cluster in the context of its runnables. */
  readonly cluster: Cluster
  /** Called when a runnable fails that was not being stopped. */
  readonly onFailure: (error: KubewrightError) => void
}

interface Running {
  readonly drain: AbortController
  readonly abort: AbortController
  readonly ended: Promise<void>
}

/** Runnables that are started and stopped together. After a stop they can be started again. */
export class RunnableGroup {
  readonly #options: RunnableGroupOptions
  readonly #runnables = new Set<Runnable>()
  readonly #running = new Map<Runnable, Running>()
  #session: { readonly drain: AbortController; readonly abort: AbortController } | undefined

  constructor(options: RunnableGroupOptions) {
    this.#options = options
  }

  get runnables(): Iterable<Runnable> {
    return this.#runnables
  }

  /** The names of the running runnables. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map(({ name }) => name)
  }

  /** Whether an added runnable starts at once. */
  get started(): boolean {
    return this.#session !== undefined && !this.#session.drain.signal.aborted
  }

  add(runnable: Runnable): void {
    this.#runnables.add(runnable)
    if (this.started) void this.#launch(runnable)
  }

  /** Starts all runnables. Resolves when those with `announcesReady` are ready, or when the signal aborts. */
  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (signal.aborted) return
    this.#session = { drain: new AbortController(), abort: new AbortController() }
    const ready = [...this.#runnables].map((runnable) => this.#launch(runnable))
    await abortable(Promise.all(ready), signal).catch(() => undefined)
  }

  /** Asks all runnables to finish their current work and end. */
  drain(): void {
    this.#session?.drain.abort()
  }

  /** Aborts all runnables. */
  abort(reason?: unknown): void {
    this.#session?.drain.abort()
    this.#session?.abort.abort(reason)
  }

  /** Resolves when no runnable is running. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  /** Removes a runnable: drains it, aborts it after `patience` milliseconds, and resolves when it has ended. */
  async remove(runnable: Runnable, patience: number): Promise<void> {
    this.#runnables.delete(runnable)
    const running = this.#running.get(runnable)
    if (running === undefined) return
    running.drain.abort()
    const timer = this.#options.clock.setTimer(patience, () => running.abort.abort(), `removal of ${runnable.name}`)
    await running.ended
    timer.cancel()
  }

  // Resolves when the runnable is ready, if it announces that.
  #launch(runnable: Runnable): Promise<void> {
    const { log, cluster, onFailure } = this.#options
    const session = this.#session
    if (session === undefined || this.#running.has(runnable)) return Promise.resolve()
    const drain = new AbortController()
    const abort = new AbortController()
    const following = [
      onAbort(session.drain.signal, () => drain.abort(session.drain.signal.reason)),
      onAbort(session.abort.signal, () => abort.abort(session.abort.signal.reason)),
    ]
    const ready = new Deferred()
    const context: RunnableContext = {
      drain: drain.signal,
      abort: abort.signal,
      log: log.withValues({ runnable: runnable.name }),
      cluster,
      ready: () => ready.resolve(),
    }
    // An async function, so that a synchronous throw is also handled here.
    const run = async (): Promise<void> => {
      try {
        await runnable.run(context)
      } catch (error) {
        if (drain.signal.aborted)
          log.error(error, 'error received after stop sequence was engaged', { part: runnable.name })
        else onFailure(partFailed(runnable.name, error))
      } finally {
        for (const stop of following) stop()
        this.#running.delete(runnable)
        ready.resolve()
      }
    }
    // The entry must exist before the runnable can end.
    const begin = new Deferred()
    this.#running.set(runnable, { drain, abort, ended: begin.promise.then(run) })
    begin.resolve()
    return runnable.announcesReady === true ? ready.promise : Promise.resolve()
  }
}

/** The error that ends a manager: the name of the part, followed by the error's message. */
export function partFailed(name: string, error: unknown): KubewrightError {
  const reason = errorText(error)
  return new KubewrightError('KW_PART_FAILED', `${name} failed: ${reason}`, { cause: error })
}
