import { type Duration, formatDuration, KubewrightError, toMillis } from '@kubewright/base'

/**
 * A failure that no repetition can mend, such as a spec that makes no sense: the key is not tried again until something about it
 * changes. Also counts when it is the `cause` of the error that was thrown.
 */
export class TerminalError extends KubewrightError {
  static {
    const name = { value: 'TerminalError', writable: true, configurable: true }
    Object.defineProperty(TerminalError.prototype, 'name', name)
  }

  constructor(message: string, options?: ErrorOptions) {
    super('KW_TERMINAL', message, options)
  }
}

/**
 * Not a failure but a wait that has a known length, thrown from wherever it is noticed: the key is tried again after that time, and
 * not as one that failed. The message says what is waited for. Also counts as the `cause` of another error.
 */
export class RetryLater extends KubewrightError {
  /** Milliseconds. */
  readonly after: number

  static {
    const name = { value: 'RetryLater', writable: true, configurable: true }
    Object.defineProperty(RetryLater.prototype, 'name', name)
  }

  constructor(after: Duration, message?: string, options?: ErrorOptions) {
    const wait = toMillis(after)
    if (!(wait >= 0)) throw new RangeError(`RetryLater must be given a time that is not negative: ${after}`)
    super('KW_RETRY_LATER', message ?? `Try again in ${formatDuration(wait)}`, options)
    this.after = wait
  }
}
