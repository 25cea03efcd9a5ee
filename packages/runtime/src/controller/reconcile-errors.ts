import { type Duration, KubewrightError, toMillis } from '@kubewright/base'

/** Options of {@link ReconcileError} and {@link TerminalError}. */
export interface FailureOptions extends ErrorOptions {
  /**
   * Fields and conditions of the status to change, as in an outcome. Only controllers of objects write them. The types
   * cannot check them; the `onError` option of a controller is checked.
   */
  readonly mergeStatus?: object | undefined
}

/** Options of a {@link RetryLater}. */
export interface RetryLaterOptions extends ErrorOptions {
  readonly requeueAfter: Duration
}

/**
 * A failure that a retry cannot fix, such as an invalid spec: the key is not retried until it is added again. Has the
 * same effect as the `cause` of another error. Without a status, a controller of objects records a Warning Event and,
 * if the kind was defined with `s.conditions()`, a condition.
 */
export class TerminalError extends KubewrightError {
  readonly mergeStatus: object | undefined

  static {
    const name = { value: 'TerminalError', writable: true, configurable: true }
    Object.defineProperty(TerminalError.prototype, 'name', name)
  }

  constructor(message: string, options: FailureOptions = {}) {
    super('KW_TERMINAL', message, options)
    this.mergeStatus = options.mergeStatus
  }
}

/**
 * A failure that leaves a status on the object. It is logged, counted and retried with back-off as any other failure. Has the same
 * effect as the `cause` of another error.
 *
 * @example
 * throw new ReconcileError('Database is unreachable', {
 *   cause,
 *   mergeStatus: { conditions: [condition('Ready', false, 'Unreachable', 'no connection to the database')] },
 * })
 */
export class ReconcileError extends KubewrightError {
  readonly mergeStatus: object | undefined

  static {
    const name = { value: 'ReconcileError', writable: true, configurable: true }
    Object.defineProperty(ReconcileError.prototype, 'name', name)
  }

  constructor(message: string, options: FailureOptions = {}) {
    super('KW_RECONCILE', message, options)
    this.mergeStatus = options.mergeStatus
  }
}

/**
 * Requests a retry after a known delay, from anywhere within a reconcile. It does not count as a failure. The message
 * says what the reconcile waits for. Has the same effect as the `cause` of another error.
 *
 * @example
 * throw new RetryLater('The volume is being created', { requeueAfter: '30s' })
 */
export class RetryLater extends KubewrightError {
  /** Milliseconds until the retry. */
  readonly requeueAfter: number

  static {
    const name = { value: 'RetryLater', writable: true, configurable: true }
    Object.defineProperty(RetryLater.prototype, 'name', name)
  }

  constructor(message: string, options: RetryLaterOptions) {
    super('KW_RETRY_LATER', message, options)
    this.requeueAfter = toMillis(options.requeueAfter)
    if (!(this.requeueAfter >= 0)) {
      throw new RangeError(`'requeueAfter' of a RetryLater must be at least 0: ${options.requeueAfter}`)
    }
  }
}
