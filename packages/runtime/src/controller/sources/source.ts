import type { AnyKind } from '@kubewright/api'
import type { Duration } from '@kubewright/base'
import type { HandlerRegistration } from '../../cache/informer/shared-informer.ts'
import type { AddOptions } from '../../queue/queue.ts'
import type { ControllerParts } from '../controller-parts.ts'

/** Where a source puts the keys that must be looked at. */
export interface KeySink {
  /** The name of the controller that works on the keys. */
  readonly controller: string
  add(key: string, options?: AddOptions): void
  addAfter(key: string, delay: Duration, options?: AddOptions): void
}

/** A source that was started. */
export interface RunningSource extends AsyncDisposable {
  /** Resolves when the keys that were there at the start have been added. */
  readonly synced: Promise<void>
  /** Why it cannot work at present, and the cure; undefined when all is well. */
  problem(): string | undefined
  /** The registrations with informers that feed it, if any: their lag is shown. */
  readonly registrations: readonly HandlerRegistration[]
  /**
   * Adds all keys that it knows again, at low priority: called when this process takes over work that others may have planned, such
   * as requeues. Sources that know no keys leave it out.
   */
  rescan?(): void
}

/** Says which keys a controller must look at: informers, timers, channels, other clusters. A value until it is started. */
export interface Source {
  /** For messages: such as `Deployment (owned)`. */
  readonly name: string
  /** The kind that it looks at, if any: rights derive from it. */
  readonly kind?: AnyKind
  /** Starts to add keys; returns at once. */
  start(sink: KeySink, parts: ControllerParts): RunningSource
}
