import { KubewrightError } from '@kubewright/base'

/** Details of a {@link ConnectionError}. */
export interface ConnectionErrorFacts {
  readonly host: string
  /** The number of attempts, including the failed one. @default 1 */
  readonly attempt?: number | undefined
  readonly cause?: unknown
}

/**
 * No response, or an incomplete one, was received. The server may or may not have executed the request. Its code is
 * `KW_CONNECTION`.
 */
export class ConnectionError extends KubewrightError {
  /** The problem, without the host. */
  readonly problem: string
  /** The server that the request was sent to. */
  readonly host: string
  /** The number of attempts when the request was given up. */
  readonly attempt: number

  static {
    Object.defineProperty(ConnectionError.prototype, 'name', { value: 'ConnectionError', configurable: true })
  }

  constructor(problem: string, { host, attempt = 1, cause }: ConnectionErrorFacts) {
    const times = attempt > 1 ? ` (attempt ${attempt})` : ''
    // TLS servers close connections that use plain HTTP.
    const hint = host.startsWith('http:') && isBroken(cause) ? '; the server may require https' : ''
    super('KW_CONNECTION', `${host}: ${problem}${hint}${times}`, cause === undefined ? undefined : { cause })
    this.problem = problem
    this.host = host
    this.attempt = attempt
  }

  /**
   * Whether an established connection was lost, as opposed to a failure to connect. A read may then be retried
   * immediately.
   */
  get isBroken(): boolean {
    return isBroken(this.cause)
  }
}

const brokenCodes = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_HTTP2_STREAM_CANCEL',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_PING_TIMEOUT',
])

function isBroken(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && brokenCodes.has(String(cause.code))
}

const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; check that the server is running and that its port is correct',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  ENOTFOUND: 'no such host; check the name of the server',
  EAI_AGAIN: 'the name of the server could not be resolved at the moment',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was lost',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; check the clock of this machine",
}

const untrusted = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/

/** Describes a connection failure, with advice where possible. */
export function connectionProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = problems[code]
  if (known !== undefined) return known
  if (untrusted.test(code)) {
    return "the server's certificate is signed by an unknown authority; check certificate-authority of the cluster"
  }
  if (/wrong version number|packet length too long|http request/i.test(error.message)) {
    return 'the server speaks plain HTTP, not HTTPS'
  }
  return error.message
}
