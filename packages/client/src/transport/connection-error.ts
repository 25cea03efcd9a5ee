import { KubewrightError } from '@kubewright/base'

/** What {@link ConnectionError} says besides its message. */
export interface ConnectionErrorFacts {
  readonly host: string
  /** How often the request had been sent, this time included. @default 1 */
  readonly attempt?: number
  readonly cause?: unknown
}

/** No answer came, or only a part of it: the server may or may not have carried the request out. Its code is `KW_CONNECTION`. */
export class ConnectionError extends KubewrightError {
  /** What went wrong, without the host. */
  readonly problem: string
  /** The server that was to answer. */
  readonly host: string
  /** How often the request had been sent when it was given up. */
  readonly attempt: number

  static {
    Object.defineProperty(ConnectionError.prototype, 'name', { value: 'ConnectionError', configurable: true })
  }

  constructor(problem: string, { host, attempt = 1, cause }: ConnectionErrorFacts) {
    const times = attempt > 1 ? ` (attempt ${attempt})` : ''
    // Servers that speak TLS hang up on whoever does not.
    const hint = host.startsWith('http:') && isBroken(cause) ? '; does the server want https?' : ''
    super('KW_CONNECTION', `${host}: ${problem}${hint}${times}`, cause === undefined ? undefined : { cause })
    this.problem = problem
    this.host = host
    this.attempt = attempt
  }

  /** Whether the connection broke off, as opposed to never having come about: a read may then be sent again at once. */
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
  ECONNREFUSED: 'connection refused; is the server running, and is its port right?',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  ENOTFOUND: 'no such host; is the name of the server right?',
  EAI_AGAIN: 'the name of the server could not be looked up now',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection broke off',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; is the clock right?",
}

const untrusted = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/

/** What went wrong with a connection, in words that name the cure where there is one. */
export function connectionProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = problems[code]
  if (known !== undefined) return known
  if (untrusted.test(code)) {
    return "the server's certificate is signed by an unknown authority; is certificate-authority of the cluster right?"
  }
  if (/wrong version number|packet length too long|http request/i.test(error.message)) {
    return 'the server speaks plain HTTP, not HTTPS'
  }
  return error.message
}
