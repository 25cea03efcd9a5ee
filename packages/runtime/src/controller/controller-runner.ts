import type { WaitOptions } from '@kubewright/base'
import type { CountedCause } from '../queue/cause.ts'
import type { QueueSnapshot } from '../queue/queue.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { KeyController } from './key-controller.ts'
import { RunningController } from './running-controller.ts'

/** One reconcile that ended, for the debug endpoint, `dev` and failure messages of tests. */
export interface ReconcileRecord {
  readonly controller: string
  readonly key: string
  readonly reconcileID: string
  readonly causes: readonly CountedCause[]
  /** Wall time of its start, milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMillis: number
  readonly result: 'success' | 'requeue_after' | 'conflict' | 'error' | 'terminal_error'
  readonly error?: unknown
  readonly requeueAfterMillis?: number
}

/** A controller in operation. First `warmUp`, then, when this process leads, `work`. */
export interface ControllerRunner {
  readonly name: string
  readonly needsLeader: boolean
  /**
   * Starts the sources and resolves when they have synced: the queue fills, nobody works. Rejects after the controller's sync
   * timeout, naming the source, what is wrong with it and the cure. Sources of optional kinds are not waited for.
   */
  warmUp(options?: WaitOptions): Promise<void>
  /**
   * Works until `drain` aborts, then stops taking keys and resolves when the running reconciles have ended; `abort` aborts their
   * signals. Calls warmUp if that has not been done. The sources go on until the runner is disposed, and so does the queue: the
   * runner can be told to work again, for instance when this process leads again.
   */
  work(options: { readonly drain: AbortSignal; readonly abort: AbortSignal }): Promise<void>
  /** Why sources cannot work at present, and which reconciles hang; empty when all is well. */
  problems(): readonly string[]
  queue(): QueueSnapshot
  /** The last reconciles, newest first, at most 100. */
  recent(): readonly ReconcileRecord[]
  /** Is told each reconcile that ends. */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable
  /** Brings the measurements that grow by themselves up to date, such as the age of running work: for before metrics are shown. */
  reportRunning(): void
  /** Stops the sources, aborts the running reconciles and resolves when they have ended. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Makes what runs a controller with the parts that a manager gives it. Nothing starts before `warmUp` or `work`. */
export function createControllerRunner(controller: KeyController, parts: ControllerParts): ControllerRunner {
  return new RunningController(controller, parts)
}
