/** Decides whether this process may write. Closed as soon as leadership is no longer certain. */
export interface WriteGate {
  /** Throws a `NotLeaderError` when a write must not be sent. */
  assertOpen(): void
}

/** A hold on a key. Must be disposed when the work on the key has ended. */
export interface KeyHold extends Disposable {
  /** Aborts when another process may take the key. Writes are rejected from then on, so the work should end. */
  readonly lost?: AbortSignal | undefined
}

/**
 * Decides which keys this process works on when several processes share them. Two processes never hold the same key at
 * the same time.
 */
export interface KeyGate {
  /**
   * Takes a key for one reconcile; undefined when it belongs to another process. Dispose the hold when the reconcile
   * has ended.
   */
  hold(key: string): KeyHold | undefined
  /**
   * Registers a listener that is called when the share of this process has changed: keys that were refused may belong
   * to it now.
   */
  onChange(listener: () => void): Disposable
}
