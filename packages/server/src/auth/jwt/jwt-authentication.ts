import { CaughtError, type Clock, type Logger, nullLogger, systemClock } from '@kubewright/base'
import type { JwtAuthenticatorConfig } from '../../config/authentication-config.ts'
import { type Outgoing, systemOutgoing } from '../../outgoing/outgoing.ts'
import { BadCredentials, type TokenAuthenticator } from '../authenticator.ts'
import { type SigningAlgorithm, signingAlgorithms } from './json-web-token.ts'
import { JwtAuthenticator, type JwtAuthenticatorParts } from './jwt-authenticator.ts'

/** Options of {@link JwtAuthentication}. */
export interface JwtAuthenticationOptions {
  /** The accepted signature algorithms. @default all */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
  /** How the server connects to issuers. @default real connections */
  readonly outgoing?: Outgoing | undefined
}

/** Milliseconds that the issuers of a new configuration have to answer. */
const updateTimeout = 60_000

interface Generation {
  readonly authenticators: readonly JwtAuthenticator[]
  readonly stop: AbortController
}

/**
 * Authenticates users by the JSON Web Tokens of OpenID Connect issuers. The caller owns it: pass it to the access options of a server, replace
 * its configuration with {@link JwtAuthentication.update}, and dispose it after the server.
 */
export class JwtAuthentication implements Disposable {
  readonly #parts: Omit<JwtAuthenticatorParts, 'signal'>
  readonly #stop = new AbortController()
  #current: Generation

  /** Starts to discover the keys of all issuers, in the background. Throws if an authenticator cannot be created. */
  constructor(config: readonly JwtAuthenticatorConfig[], options: JwtAuthenticationOptions = {}) {
    const { algorithms = signingAlgorithms, clock = systemClock, log = nullLogger, outgoing = systemOutgoing } = options
    this.#parts = { algorithms, clock, log, outgoing }
    this.#current = this.#generation(config)
  }

  /**
   * Replaces the configuration. The old one stays in use until all new issuers have answered; rejects, and keeps the old one, if they do not
   * within a minute.
   */
  async update(config: readonly JwtAuthenticatorConfig[]): Promise<void> {
    const next = this.#generation(config)
    const { clock } = this.#parts
    const late = new AbortController()
    const timer = clock.setTimer(updateTimeout, () => late.abort(), 'discovery of new token issuers')
    const deadline = new Promise<void>((resolve) => late.signal.addEventListener('abort', () => resolve()))
    try {
      await Promise.race([Promise.all(next.authenticators.map(({ ready }) => ready)), deadline])
    } finally {
      timer.cancel()
    }
    const problems = next.authenticators.flatMap(({ problem }) => problem ?? [])
    if (problems.length > 0 || this.#stop.signal.aborted) {
      next.stop.abort()
      throw new CaughtError(problems.join(', ') || 'the server stops')
    }
    this.#current.stop.abort()
    this.#current = next
  }

  /** Authenticates tokens for the given audiences of the server; a token that is valid for its issuer is valid for all of them. */
  authenticatorFor(own: readonly string[]): TokenAuthenticator {
    return async (token, wanted) => {
      const audiences = own.filter((audience) => wanted.includes(audience))
      if (audiences.length === 0) return undefined
      for (const authenticator of this.#current.authenticators) {
        try {
          const user = await authenticator.userOf(token)
          if (user) return { user, audiences }
        } catch (error) {
          throw new BadCredentials((error as Error).message, { cause: error })
        }
      }
      return undefined
    }
  }

  /** The reasons why tokens of some issuers cannot be verified yet. */
  get problems(): readonly string[] {
    return this.#current.authenticators.flatMap(({ problem }) => problem ?? [])
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }

  #generation(config: readonly JwtAuthenticatorConfig[]): Generation {
    const stop = new AbortController()
    const parts = { ...this.#parts, signal: AbortSignal.any([stop.signal, this.#stop.signal]) }
    return { stop, authenticators: config.map((one) => new JwtAuthenticator(one, parts)) }
  }
}
