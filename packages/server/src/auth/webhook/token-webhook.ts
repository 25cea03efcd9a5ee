import { createHash } from 'node:crypto'
import { parseJson } from '@kubewright/api'
import {
  CaughtError,
  type Clock,
  type Logger,
  nullLogger,
  type Random,
  systemClock,
  systemRandom,
} from '@kubewright/base'
import { type Outgoing, systemOutgoing } from '../../outgoing/outgoing.ts'
import { WebhookClient } from '../../outgoing/webhook-client.ts'
import { BadCredentials, type TokenAuthenticator, type TokenOwner } from '../authenticator.ts'
import { type AuthWebhookParts, callAuthWebhook, type WebhookConnection } from './call-auth-webhook.ts'

/** Options of {@link TokenWebhook}. */
export interface TokenWebhookOptions {
  readonly connection: WebhookConnection
  /** The version of the TokenReviews. @default 'v1beta1' */
  readonly version?: 'v1' | 'v1beta1' | undefined
  /** How long results are reused, in milliseconds; 0 for not at all. @default two minutes */
  readonly cacheTtl?: number | undefined
  /** @default real connections */
  readonly outgoing?: Outgoing | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
}

interface ReviewStatus {
  readonly authenticated?: boolean | undefined
  readonly user?:
    | {
        readonly username?: string | undefined
        readonly uid?: string | undefined
        readonly groups?: readonly string[] | undefined
        readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
      }
    | undefined
  readonly audiences?: readonly string[] | undefined
  readonly error?: string | undefined
}

const timeoutSeconds = 30
const defaultTtl = 120_000
/** How many results are cached. */
const maxCached = 4096

/** Authenticates bearer tokens by a remote server, to which it sends TokenReviews (apiserver/plugin/pkg/authenticator/token/webhook). */
export class TokenWebhook {
  readonly #parts: AuthWebhookParts
  readonly #version: 'v1' | 'v1beta1'
  readonly #ttl: number
  /** Results by a digest of token and audiences, so that no token is kept in memory. Failures of the webhook are not cached. */
  readonly #cache = new Map<string, { readonly status: ReviewStatus; readonly until: number }>()

  constructor(options: TokenWebhookOptions) {
    const { connection, outgoing = systemOutgoing, clock = systemClock } = options
    const resolveService = (): Promise<never> =>
      Promise.reject(new CaughtError('authentication webhooks have no service'))
    const client = new WebhookClient({ outgoing, clock, resolveService })
    this.#parts = { connection, client, clock, random: options.random ?? systemRandom, log: options.log ?? nullLogger }
    this.#version = options.version ?? 'v1beta1'
    this.#ttl = options.cacheTtl ?? defaultTtl
  }

  /** Authenticates tokens. A result without audiences is valid for those of the server, which are `own`. */
  authenticatorFor(own: readonly string[]): TokenAuthenticator {
    return async (token, wanted): Promise<TokenOwner | undefined> => {
      const { authenticated, user = {}, audiences = [], error } = await this.#review(token, wanted)
      const granted = audiences.length > 0 ? audiences : own
      const common = wanted.filter((audience) => granted.includes(audience))
      if (common.length === 0) return undefined
      if (!authenticated) {
        if (error) throw new BadCredentials(error)
        return undefined
      }
      const { username: name = '', uid, groups = [], extra } = user
      return {
        user: { name, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) },
        audiences: common,
      }
    }
  }

  async #review(token: string, audiences: readonly string[]): Promise<ReviewStatus> {
    const { clock } = this.#parts
    const key = createHash('sha256')
      .update(JSON.stringify([token, audiences]))
      .digest('base64')
    const known = this.#cache.get(key)
    if (known && known.until > clock.now()) return known.status
    const status = await this.#call(token, audiences)
    if (this.#ttl > 0) {
      this.#cache.delete(key)
      if (this.#cache.size >= maxCached) this.#cache.delete(this.#cache.keys().next().value!)
      this.#cache.set(key, { status, until: clock.now() + this.#ttl })
    }
    return status
  }

  async #call(token: string, audiences: readonly string[]): Promise<ReviewStatus> {
    const review = {
      kind: 'TokenReview',
      apiVersion: `authentication.k8s.io/${this.#version}`,
      metadata: {},
      spec: { token, audiences },
      status: { user: {} },
    }
    try {
      const body = await callAuthWebhook(
        this.#parts,
        review,
        timeoutSeconds,
        'Failed to make webhook authenticator request',
      )
      const { kind, status } = parseJson(body) as {
        readonly kind?: unknown
        readonly status?: ReviewStatus | undefined
      }
      if (kind !== 'TokenReview') throw new CaughtError(`unexpected kind of the webhook's response: ${String(kind)}`)
      return status ?? {}
    } catch (error) {
      throw new BadCredentials((error as Error).message, { cause: error })
    }
  }
}
