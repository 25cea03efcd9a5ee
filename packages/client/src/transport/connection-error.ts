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

  /** The code of the system or of Node for the failure, such as `ECONNREFUSED`; undefined if it has none. */
  get systemCode(): string | undefined {
    return systemCodeOf(this.cause)
  }

  /** Whether the certificate of the server was refused. */
  get isUntrusted(): boolean {
    return refusedCertificate.test(this.systemCode ?? '')
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

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function isBroken(cause: unknown): boolean {
  return brokenCodes.has(systemCodeOf(cause) ?? '')
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
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server speaks plain HTTP, not HTTPS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server speaks plain HTTP, not HTTPS',
  ERR_SSL_HTTP_REQUEST: 'the server speaks plain HTTP, not HTTPS',
}

const refusedCertificate = /^(CERT_|UNABLE_TO_|ERR_TLS_CERT_|(DEPTH_ZERO_)?SELF_SIGNED_CERT)/
const unknownAuthority = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/

/** Describes a connection failure, with advice where possible. */
export function connectionProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = systemCodeOf(error) ?? ''
  const known = problems[code]
  if (known !== undefined) return known
  if (unknownAuthority.test(code)) {
    return "the server's certificate is signed by an unknown authority; check certificate-authority of the cluster"
  }
  return error.message
}
