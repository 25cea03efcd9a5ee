import type { Duration } from '@kubewright/base'
import type { Controller } from './define-controller.ts'
import type { Webhook } from './define-webhook.ts'

/** How the replicas of an operator agree on who works. */
export interface LeaderElectionOptions {
  /** How long others wait before they take over a silent leader. @default '15s' */
  readonly leaseDuration?: Duration
  /** How long a leader tries to renew before it gives up. @default '10s' */
  readonly renewDeadline?: Duration
}

/** What {@link defineOperator} takes. */
export interface OperatorOptions {
  readonly name: string
  readonly controllers: readonly Controller[]
  readonly webhooks?: readonly Webhook[]
  /** @default false */
  readonly leaderElection?: boolean | LeaderElectionOptions
}

/** An operator as an inspectable value: its CRDs, roles and manifests derive from it. */
export interface Operator {
  readonly name: string
  readonly controllers: readonly Controller[]
  readonly webhooks: readonly Webhook[]
  readonly leaderElection: false | LeaderElectionOptions
}

/** Describes an operator. Pure: nothing is registered or started. */
export function defineOperator(options: OperatorOptions): Operator {
  const { name, controllers, webhooks = [], leaderElection = false } = options
  const seen = new Set<string>()
  for (const controller of controllers) {
    if (seen.has(controller.name)) {
      throw new TypeError(
        `Cannot define operator "${name}" as two controllers are named "${controller.name}": give one of them another 'name'`,
      )
    }
    seen.add(controller.name)
  }
  return Object.freeze({
    name,
    controllers: Object.freeze([...controllers]),
    webhooks: Object.freeze([...webhooks]),
    leaderElection: leaderElection === true ? {} : leaderElection,
  })
}
