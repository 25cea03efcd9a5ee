/** The status codes of gRPC that the store distinguishes. */
export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

/** A call that did not end with status OK. */
export class GrpcError extends Error {
  readonly status: number
  /** Whether the request may have reached the server. */
  readonly sent: boolean

  constructor(status: number, message: string, options: { readonly sent: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GrpcError'
    this.status = status
    this.sent = options.sent
  }
}
