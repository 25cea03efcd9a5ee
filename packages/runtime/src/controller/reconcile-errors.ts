import { type Duration, formatDuration, KubewrightError, toMillis } from '@kubewright/base'

/**
 * The status that an error leaves on the object. Only controllers of objects write it. The types cannot check it; the
 * `onError` option of a controller is checked.
 */
export interface FailureStatus {
  /** The whole status, as in an outcome. */
  readonly status?: object | undefined
  /** Fields and conditions of the status to change; all others stay. */
  readonly mergeStatus?: object | undefined
}

/** Options of {@link TerminalError}. */
export interface TerminalErrorOptions extends ErrorOptions, FailureStatus {}

/** Options of {@link ReconcileError}. */
export interface ReconcileErrorOptions extends ErrorOptions, FailureStatus {
  /** Retries after this time. @default back-off */
  readonly requeueAfter?: Duration | undefined
}

/**
 * A failure that a retry cannot fix, such as an invalid spec: the key is not retried until it is added again. Has the
 * same effect as the `cause` of another error. Without a status, a controller of objects records a Warning Event and,
 * if the kind was defined with `s.conditions()`, a condition.
 */
export class TerminalError extends KubewrightError implements FailureStatus {
  readonly status: object | undefined
  readonly mergeStatus: object | undefined

  static {
    const name = { value: 'TerminalError', writable: true, configurable: true }
    Object.defineProperty(TerminalError.prototype, 'name', name)
  }

  constructor(message: string, options: TerminalErrorOptions = {}) {
    super('KW_TERMINAL', message, options)
    this.status = options.status
    this.mergeStatus = options.mergeStatus
  }
}

/**
 * A failure that leaves a status on the object. It is logged, counted and retried as any other failure. Has the same
 * effect as the `cause` of another error.
 *
 * @example
 * throw new ReconcileError('Database is unreachable', {
 *   cause,
 *   mergeStatus: { conditions: [condition('Ready', false, 'Unreachable', 'no connection to the database')] },
 * })
 */
export class ReconcileError extends KubewrightError implements FailureStatus {
  readonly status: object | undefined
  readonly mergeStatus: object | undefined
  /** Milliseconds until the retry; undefined for back-off. */
  readonly requeueAfter: number | undefined

  static {
    const name = { value: 'ReconcileError', writable: true, configurable: true }
    Object.defineProperty(ReconcileError.prototype, 'name', name)
  }

  constructor(message: string, options: ReconcileErrorOptions = {}) {
    super('KW_RECONCILE', message, options)
    this.status = options.status
    this.mergeStatus = options.mergeStatus
    this.requeueAfter = options.requeueAfter === undefined ? undefined : toMillis(options.requeueAfter)
    if (this.requeueAfter !== undefined && !(this.requeueAfter >= 0)) {
      throw new RangeError(`'requeueAfter' of a ReconcileError must be at least 0: ${options.requeueAfter}`)
    }
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
