import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Update } from '../wire/messages.ts'
import type { KindCatalog } from './kind-catalog.ts'
import type { OperatorSource } from './operator-source.ts'

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
  readonly client: ApiClient
  readonly clock: Clock
  readonly kinds: KindCatalog
  readonly operators: readonly OperatorSource[]
  /** Called when there is something to take. */
  readonly changed: () => void
}
