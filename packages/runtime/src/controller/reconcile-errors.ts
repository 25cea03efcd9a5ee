import { type Duration, formatDuration, KubewrightError, toMillis } from '@kubewright/base'

/**
 * A failure that a retry cannot fix, such as an invalid spec: the key is not retried until it is added again. Has the
 * same effect as the `cause` of another error.
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
 * Requests a retry after a known delay, from anywhere within a reconcile. It does not count as a failure. The message
 * says what the reconcile waits for. Has the same effect as the `cause` of another error.
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
    if (!(wait >= 0)) throw new RangeError(`RetryLater must have a delay of at least 0: ${after}`)
    super('KW_RETRY_LATER', message ?? `Try again in ${formatDuration(wait)}`, options)
    this.after = wait
  }
}
