import {
  type Awaitable,
  CaughtError,
  type Clock,
  type Logger,
  nullLogger,
  type Random,
  systemClock,
  systemRandom,
} from '@kubewright/base'
import type { AuthorizerConfig } from '../config/authorization-config.ts'
import { type Outgoing, systemOutgoing } from '../outgoing/outgoing.ts'
import { WebhookClient } from '../outgoing/webhook-client.ts'
import { type AuthorizationMode, alwaysAllow, alwaysDeny, UnionAuthorizer } from './authorization-modes.ts'
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts'
import type { AuthWebhookParts, WebhookConnection } from './webhook/call-auth-webhook.ts'
import { WebhookAuthorizer } from './webhook/webhook-authorizer.ts'

/** Options of {@link AuthorizationChain}. */
export interface AuthorizationChainOptions {
  /** Returns the connection of the webhook with this kubeconfig. */
  readonly connect: (kubeConfigFile: string) => WebhookConnection
  /** @default real connections */
  readonly outgoing?: Outgoing | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default no logs */
  readonly log?: Logger | undefined
}

/** The authorizers that a server creates from its objects. */
export interface StoredAuthorizers {
  readonly rbac: Authorizer
  readonly node: Authorizer
}

/**
 * A chain of authorizers with webhooks among them, for the access options of a server. The first authorizer that allows or denies a request
 * decides. {@link AuthorizationChain.update} replaces the chain while the server runs; the types besides Webhook cannot change.
 */
export class AuthorizationChain {
  /** The types of the authorizers besides webhooks. */
  readonly modes: readonly AuthorizationMode[]
  readonly #connect: AuthorizationChainOptions['connect']
  readonly #parts: Omit<AuthWebhookParts, 'connection'>
  #config: readonly AuthorizerConfig[]
  #stored: StoredAuthorizers | undefined
  #current: UnionAuthorizer | undefined

  constructor(config: readonly AuthorizerConfig[], options: AuthorizationChainOptions) {
    const { connect, outgoing = systemOutgoing, clock = systemClock, random = systemRandom, log = nullLogger } = options
    const resolveService = (): Promise<never> =>
      Promise.reject(new CaughtError('authorization webhooks have no service'))
    const client = new WebhookClient({ outgoing, clock, resolveService })
    this.#connect = connect
    this.#parts = { clock, random, log, client }
    this.#config = config
    this.modes = config.flatMap(({ type }) => (type === 'Webhook' ? [] : [type]))
  }

  /** Replaces the authorizers. Decisions of webhooks that were cached are forgotten. */
  update(config: readonly AuthorizerConfig[]): void {
    this.#config = config
    if (this.#stored) this.#current = this.#union(this.#stored)
  }

  /** Returns the authorizer of a server. It follows later updates. */
  attach(stored: StoredAuthorizers): Authorizer {
    this.#stored = stored
    this.#current = this.#union(stored)
    return {
      authorize: (attributes: AuthorizationAttributes): Awaitable<Decision> => this.#current!.authorize(attributes),
      rulesFor: (user, namespace): Promise<ResolvedRules> => this.#current!.rulesFor(user, namespace),
    }
  }

  #union({ rbac, node }: StoredAuthorizers): UnionAuthorizer {
    const builtin = { Node: node, RBAC: rbac, AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny }
    return new UnionAuthorizer(
      this.#config.map((one) =>
        one.type === 'Webhook'
          ? new WebhookAuthorizer(one.webhook, {
              ...this.#parts,
              connection: this.#connect(one.webhook.kubeConfigFile ?? ''),
            })
          : builtin[one.type],
      ),
    )
  }
}
