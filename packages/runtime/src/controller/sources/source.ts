import type { AnyKind } from '@kubewright/api'
import type { Duration } from '@kubewright/base'
import type { HandlerRegistration } from '../../cache/informer/shared-informer.ts'
import type { AddOptions } from '../../queue/queue.ts'
import type { ControllerParts } from '../controller-parts.ts'

/** Receives the keys of a source. */
export interface KeySink {
  /** The name of the controller that processes the keys. */
  readonly controller: string
  add(key: string, options?: AddOptions): void
  addAfter(key: string, delay: Duration, options?: AddOptions): void
}

/** A started source. */
export interface RunningSource extends AsyncDisposable {
  /** Resolves when the initial keys have been added. */
  readonly synced: Promise<void>
  /** The current problem and its fix; undefined when there is none. */
  problem(): string | undefined
  /** The registrations with the informers that feed the source, if any. Their lag is reported. */
  readonly registrations: readonly HandlerRegistration[]
  /**
   * Adds all known keys again, at low priority. Called when this process takes over from another one, which may have
   * planned requeues. Sources without known keys omit it.
   */
  rescan?(): void
}

/**
 * Produces the keys that a controller reconciles, for example from informers, timers or channels. A plain value until
 * it is started.
 */
export interface Source {
  /** The name in messages, such as `Deployment (owned)`. */
  readonly name: string
  /** The watched kind, if any. Permissions are derived from it. */
  readonly kind?: AnyKind | undefined
  /** Starts to add keys. Returns without waiting. */
  start(sink: KeySink, parts: ControllerParts): RunningSource
}
