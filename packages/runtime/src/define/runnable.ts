import type { Logger } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'

/**
 * When a part of a manager is started; stopping goes the other way round. `server`: metrics, health; `webhook`; `cache`;
 * `other`: what every replica does; `leader`: what only the leader does.
 */
export type RunnablePhase = 'server' | 'webhook' | 'cache' | 'other' | 'leader'

/** What a runnable is given. */
export interface RunnableContext {
  /** Aborts when it should finish what it has begun and end. */
  readonly drain: AbortSignal
  /** Aborts when there is no more time for that. */
  readonly abort: AbortSignal
  readonly log: Logger
  /** The main cluster. What its clients are told to write by a part of the phase `leader` is only sent while this replica leads. */
  readonly cluster: Cluster
  /** To be called when it is in operation: the next phase waits for it. Not calling it means: ready at once when run returns a promise. */
  readonly ready: () => void
}

/** A part of a manager that runs until it is told to stop. One that fails ends the manager. */
export interface Runnable {
  readonly name: string
  /** @default 'leader' */
  readonly phase?: RunnablePhase
  /** Whether later phases wait for `ready`. @default false */
  readonly announcesReady?: boolean
  /** Prepares on every replica before it leads, for instance fills queues. */
  warmUp?(options: { readonly signal: AbortSignal }): Promise<void>
  /** Does the work until `drain` aborts; may end earlier. A part of the phase `leader` is run again for each term. */
  run(context: RunnableContext): Promise<void>
}
