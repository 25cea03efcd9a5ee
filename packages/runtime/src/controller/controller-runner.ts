import type { WaitOptions } from '@kubewright/base'
import type { CountedCause } from '../queue/cause.ts'
import type { QueueSnapshot } from '../queue/queue.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { KeyController } from './key-controller.ts'
import { RunningController } from './running-controller.ts'

/** The record of a finished reconcile, for the debug page, `dev` and messages of tests. */
export interface ReconcileRecord {
  readonly controller: string
  readonly key: string
  readonly reconcileID: string
  readonly causes: readonly CountedCause[]
  /** The wall time of the start, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMillis: number
  readonly result: 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error'
  readonly error?: unknown
  readonly requeueAfterMillis?: number | undefined
}

/** Runs one controller. Call `warmUp` first, then, when this process leads, `work`. */
export interface ControllerRunner {
  readonly name: string
  readonly needsLeader: boolean
  /**
   * Starts the sources and resolves when they have synced. The queue fills, but no key is processed. Rejects after the
   * controller's sync timeout; the message names each source, its problem and the fix. Does not wait for sources of
   * optional kinds.
   */
  warmUp(options?: WaitOptions): Promise<void>
  /**
   * Processes keys until `drain` aborts, then takes no more keys and resolves when the running reconciles have ended.
   * `abort` aborts their signals. Calls `warmUp` if needed. The sources and the queue stay active until the runner is
   * disposed, so `work` can be called again, for example when this process leads again.
   */
  work(options: { readonly drain: AbortSignal; readonly abort: AbortSignal }): Promise<void>
  /** The problems of the sources, and the reconciles that hang; empty when there are none. */
  problems(): readonly string[]
  /** Whether keys stay in the queue because of {@link pause} or {@link step}. */
  readonly isPaused: boolean
  /** Leaves all keys in the queue until `resume`. Running reconciles continue. For debugging: the operator does no work. */
  pause(): void
  /** Pauses, and lets one key through: now, or when one is ready. */
  step(): void
  resume(): void
  queue(): QueueSnapshot
  /** The last 100 reconciles, newest first. */
  recent(): readonly ReconcileRecord[]
  /** Registers a listener that is called after each reconcile. */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable
  /**
   * Updates the metrics that change with time alone, such as the age of running work. Call it before metrics are read.
   */
  reportRunning(): void
  /** Stops the sources, aborts the running reconciles and resolves when they have ended. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Creates the runner of a controller. Nothing starts before `warmUp` or `work`. */
export function createControllerRunner(controller: KeyController, parts: ControllerParts): ControllerRunner {
  return new RunningController(controller, parts)
}
