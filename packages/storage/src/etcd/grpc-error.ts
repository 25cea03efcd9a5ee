import { CaughtError } from '@kubewright/base'

/** The status codes of gRPC that the store distinguishes. */
export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  aborted: 10,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

/** Statuses that do not state whether the server executed the request. All others mean that it rejected the request. */
const undecided: ReadonlySet<number> = new Set([
  grpcStatus.cancelled,
  grpcStatus.unknown,
  grpcStatus.deadlineExceeded,
  grpcStatus.aborted,
  grpcStatus.internal,
  grpcStatus.unavailable,
])

/** A call that did not end with status OK. */
export class GrpcError extends CaughtError {
  readonly status: number
  /** Whether the request may have reached the server. */
  readonly sent: boolean

  constructor(status: number, message: string, options: { readonly sent: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcError'
    this.status = status
    this.sent = options.sent
  }

  /**
   * Whether the connection or the server failed rather than the request. If it was also sent, it may have been
   * executed.
   */
  get undecided(): boolean {
    return undecided.has(this.status)
  }
}
