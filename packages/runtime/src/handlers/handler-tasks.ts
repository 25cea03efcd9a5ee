import { type KubeObject, keyOf } from '@kubewright/api'
import { toMillis } from '@kubewright/base'
import type { ControllerParts } from '../controller/controller-parts.ts'
import type { KeySink, RunningSource, Source } from '../controller/sources/source.ts'
import type { DaemonContext } from './define-handlers.ts'

type Daemon = (object: never, context: DaemonContext) => Promise<void>

/** What one process runs for one object. */
interface ObjectTasks {
  readonly uid: string
  readonly abort: AbortController
  /** The times at which timers are due, in milliseconds. */
  readonly due: Map<string, number>
  readonly daemons: Map<string, Promise<void>>
  object: KubeObject
  /** The error of a daemon, for the next reconcile. */
  failure: { readonly error: unknown } | undefined
}

/** The timers and daemons of one run of a controller. */
export class HandlerTasks implements AsyncDisposable {
  readonly #parts: ControllerParts
  readonly #sink: KeySink
  readonly #objects = new Map<string, ObjectTasks>()

  constructor(parts: ControllerParts, sink: KeySink) {
    this.#parts = parts
    this.#sink = sink
  }

  /** The tasks of an object. Ends those of an earlier object with the same name. */
  of(object: KubeObject): ObjectTasks {
    const key = keyOf(object)
    const { uid } = object.metadata
    const known = this.#objects.get(key)
    if (known?.uid === uid) {
      known.object = object
      return known
    }
    known?.abort.abort()
    const tasks: ObjectTasks = {
      uid,
      abort: new AbortController(),
      due: new Map(),
      daemons: new Map(),
      object,
      failure: undefined,
    }
    this.#objects.set(key, tasks)
    return tasks
  }

  /** Starts a daemon unless it runs or has returned. Its failure is thrown by the next reconcile, which starts it again. */
  startDaemon(object: KubeObject, name: string, daemon: Daemon): void {
    const tasks = this.of(object)
    if (tasks.daemons.has(name)) return
    const { cluster, clock, log } = this.#parts
    const { signal } = tasks.abort
    const context: DaemonContext = {
      client: cluster.client,
      signal,
      now: () => new Date(clock.now()),
      log: log.withValues({ daemon: name, object: keyOf(object) }),
      sleep: (time) => clock.sleep(toMillis(time), { signal }),
      latest: <T>() => tasks.object as T,
    }
    const fail = (error: unknown): void => {
      tasks.daemons.delete(name)
      // The signal is how a daemon is stopped; its error is no failure.
      if (signal.aborted) return
      tasks.failure = { error }
      this.#sink.add(keyOf(object))
    }
    // Starts after the reconcile's own step, so that a synchronous error is caught too.
    tasks.daemons.set(
      name,
      Promise.resolve()
        .then(() => daemon(object as never, context))
        .catch(fail),
    )
  }

  /** Stops the tasks of an object and waits for its daemons. */
  async stop(object: KubeObject): Promise<void> {
    const key = keyOf(object)
    const tasks = this.#objects.get(key)
    tasks?.abort.abort()
    if (tasks !== undefined) await Promise.all(tasks.daemons.values())
    if (this.#objects.get(key) === tasks) this.#objects.delete(key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#objects.values()]
    for (const { abort } of all) abort.abort()
    await Promise.all(all.flatMap(({ daemons }) => [...daemons.values()]))
    this.#objects.clear()
  }
}

/**
 * A source that adds no keys of its own: it gives each run of the controller its tasks and ends them with the run.
 * Definitions have no state, so that several managers can run the same one.
 */
export function handlerTasksSource(runs: WeakMap<ControllerParts['cluster'], HandlerTasks>): Source {
  const start = (sink: KeySink, parts: ControllerParts): RunningSource => {
    const tasks = new HandlerTasks(parts, sink)
    runs.set(parts.cluster, tasks)
    return {
      synced: Promise.resolve(),
      problem: () => undefined,
      registrations: [],
      [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
    }
  }
  return Object.freeze({ name: 'timers and daemons', start })
}
