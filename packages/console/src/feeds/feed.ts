import type { Clock } from '@kubewright/base'
import type { RestClient } from '@kubewright/client'
import type { ClusterView } from '../cluster/cluster-view.ts'
import type { Forwards } from '../cluster/forwards.ts'
import type { Terminals } from '../cluster/terminals.ts'
import type { Recording } from '../recording/recording.ts'
import type { Update } from '../wire/messages.ts'
import type { Levers } from './levers.ts'
import type { ReadOperators } from './read-operators.ts'

/**
 * Keeps one topic current. Changes are merged until they are taken, so a slow page costs no memory: it skips states
 * in between.
 */
export interface Feed extends Disposable {
  /** The changes since the last call, or a part of them; undefined when there are none left. */
  take(): Update | undefined
}

/** The environment of a feed. */
export interface FeedContext {
  /** The live cluster, or the one at the moment that the topic names. */
  readonly cluster: ClusterView
  /** The connection to the live cluster; absent for a moment of a recording. */
  readonly rest?: RestClient | undefined
  readonly clock: Clock
  readonly recording: Recording
  readonly readOperators: ReadOperators
  /** The commands that pages run in containers; absent without a live cluster. */
  readonly terminals?: Terminals | undefined
  /** Absent without a live cluster. */
  readonly forwards?: Forwards | undefined
  /** Absent if the console offers none. */
  readonly levers?: Levers | undefined
  /** Called when there is something to take. */
  readonly changed: () => void
}
