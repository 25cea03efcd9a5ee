import type { Logger } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'

/**
 * The phase in which a part of a manager starts; stopping uses the reverse order. `server`: metrics and health;
 * `webhook`; `cache`; `other`: parts that run on every replica; `leader`: parts that run on the leader only.
 */
export type RunnablePhase = 'server' | 'webhook' | 'cache' | 'other' | 'leader'

/** The context of a runnable. */
export interface RunnableContext {
  /** Aborts when the runnable should finish its current work and end. */
  readonly drain: AbortSignal
  /** Aborts when there is no time left for that. */
  readonly abort: AbortSignal
  readonly log: Logger
  /** The main cluster. In the phase `leader`, its clients send writes only while this replica leads. */
  readonly cluster: Cluster
  /**
   * Call it when the runnable is operational: the next phase waits for it. Without `announcesReady` the call is not
   * needed.
   */
  readonly ready: () => void
}

/** A part of a manager that runs until it is stopped. Its failure ends the manager. */
export interface Runnable {
  readonly name: string
  /** @default 'leader' */
  readonly phase?: RunnablePhase | undefined
  /** Whether later phases wait for `ready`. @default false */
  readonly announcesReady?: boolean | undefined
  /** Prepares on every replica before it leads, for example fills queues. */
  warmUp?(options: { readonly signal: AbortSignal }): Promise<void>
  /** Runs until `drain` aborts; may end earlier. In the phase `leader`, called again for each term. */
  run(context: RunnableContext): Promise<void>
}
