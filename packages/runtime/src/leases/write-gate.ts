/** Decides whether this process may write right now: false as soon as it can no longer be sure to lead. */
export interface WriteGate {
  /** Throws a `NotLeaderError` when a write must not be sent. */
  assertOpen(): void
}

/** A key that this process holds, to be disposed when the work on it has ended. */
export interface KeyHold extends Disposable {
  /** Aborts when the key may be somebody else's before that: writes are refused from then on, so the work should end. */
  readonly lost?: AbortSignal
}

/**
 * Decides which keys this process works on when several share them. Between two processes there is never a moment in which both
 * hold a key.
 */
export interface KeyGate {
  /** Takes hold of a key for one reconcile; undefined when it is somebody else's now. Dispose it when the reconcile has ended. */
  hold(key: string): KeyHold | undefined
  /** Told when the share of this process has changed: keys that were refused may be ours now. */
  onChange(listener: () => void): Disposable
}
