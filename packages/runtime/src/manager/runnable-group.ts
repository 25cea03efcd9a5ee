import { abortable, type Clock, Deferred, errorText, KubewrightError, type Logger, onAbort } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { Runnable, RunnableContext } from '../define/runnable.ts'

/** What a {@link RunnableGroup} is made of. */
export interface RunnableGroupOptions {
  readonly log: Logger
  readonly clock: Clock
  /** What its parts are given. */
  readonly cluster: Cluster
  /** Told when a part fails that was not asked to end. */
  readonly onFailure: (error: KubewrightError) => void
}

interface Running {
  readonly drain: AbortController
  readonly abort: AbortController
  readonly ended: Promise<void>
}

/** The parts of a manager that are started and stopped together. After a stop they can be started again. */
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

  /** The names of the parts that have not ended. */
  get running(): readonly string[] {
    return [...this.#running.keys()].map(({ name }) => name)
  }

  /** Whether what is added now is started at once. */
  get started(): boolean {
    return this.#session !== undefined && !this.#session.drain.signal.aborted
  }

  add(runnable: Runnable): void {
    this.#runnables.add(runnable)
    if (this.started) void this.#launch(runnable)
  }

  /** Starts all parts and resolves when those that announce it are ready; at the latest when the signal aborts. */
  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (signal.aborted) return
    this.#session = { drain: new AbortController(), abort: new AbortController() }
    const ready = [...this.#runnables].map((runnable) => this.#launch(runnable))
    await abortable(Promise.all(ready), signal).catch(() => undefined)
  }

  /** Asks all parts to finish what they have begun. */
  drain(): void {
    this.#session?.drain.abort()
  }

  /** Tells all parts that there is no more time. */
  abort(reason?: unknown): void {
    this.#session?.drain.abort()
    this.#session?.abort.abort(reason)
  }

  /** Resolves when no part is running. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  /** Takes one part out: asks it to finish, aborts it after `patience` milliseconds, and resolves when it has ended. */
  async remove(runnable: Runnable, patience: number): Promise<void> {
    this.#runnables.delete(runnable)
    const running = this.#running.get(runnable)
    if (running === undefined) return
    running.drain.abort()
    const timer = this.#options.clock.setTimer(patience, () => running.abort.abort(), `removal of ${runnable.name}`)
    await running.ended
    timer.cancel()
  }

  // Resolves when the part is ready, if it says when it is.
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
    // Also what throws before its first await is a failure of the part, not of the caller.
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
    // The entry must be there before the part can end.
    const begin = new Deferred()
    this.#running.set(runnable, { drain, abort, ended: begin.promise.then(run) })
    begin.resolve()
    return runnable.announcesReady === true ? ready.promise : Promise.resolve()
  }
}

/** The failure that ends a manager, with the name of the part in front of what it said. */
export function partFailed(name: string, error: unknown): KubewrightError {
  const reason = errorText(error)
  return new KubewrightError('KW_PART_FAILED', `${name} failed: ${reason}`, { cause: error })
}
