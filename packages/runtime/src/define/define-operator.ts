import type { AnyKind } from '@kubewright/api'
import type { KeyController } from '../controller/key-controller.ts'
import { type LeaseTimingOptions, resolveLeaseTiming } from '../leases/lease-timing.ts'
import type { Controller } from './define-controller.ts'
import type { Conversion } from './define-conversion.ts'
import type { Webhook } from './define-webhook.ts'
import type { Runnable } from './runnable.ts'

/** How the replicas of an operator agree on who works. */
export interface LeaderElectionOptions extends LeaseTimingOptions {
  /** The name of the Lease. @default the name of the operator */
  readonly leaseName?: string
  /** Where the Lease is. @default the namespace that the operator runs in */
  readonly namespace?: string
  /** Whether a replica that stops lets the next one lead at once, after its own work has ended. @default true */
  readonly releaseOnStop?: boolean
  /**
   * What a leader does that could not renew in time. Its writes are refused in any case. `exit` ends the manager with an error;
   * `step-down` ends the work, keeps the caches warm and campaigns again. @default 'exit'
   */
  readonly onLost?: 'exit' | 'step-down'
}

/** How replicas share the keys when all of them work. */
export interface ShardingOptions extends LeaseTimingOptions {
  /** What the names of the members' Leases begin with. @default the name of the operator */
  readonly leaseName?: string
  /** Where the Leases are. @default the namespace that the operator runs in */
  readonly namespace?: string
}

/** What {@link defineOperator} takes. */
export interface OperatorOptions {
  readonly name: string
  /** Kinds that belong to the operator though none of its parts names them: they are installed with it. */
  readonly kinds?: readonly AnyKind[]
  /** @default none: an operator of webhooks or conversions alone */
  readonly controllers?: readonly (Controller | KeyController)[]
  readonly webhooks?: readonly Webhook[]
  /** Conversions between the versions of kinds. */
  readonly conversions?: readonly Conversion[]
  /** Further parts that run as long as the operator does. */
  readonly runnables?: readonly Runnable[]
  /** The namespaces that it looks at. @default all of them */
  readonly namespaces?: readonly string[]
  /** Whether only one replica works at a time. @default false */
  readonly leaderElection?: boolean | LeaderElectionOptions
  /** Whether all replicas work, each on its share of the keys. Controllers then do not wait for leadership. @default false */
  readonly sharding?: boolean | ShardingOptions
}

/** An operator as an inspectable value: its CRDs, roles and manifests derive from it. */
export interface Operator {
  readonly name: string
  /** Those that were given; the parts name further ones. */
  readonly kinds: readonly AnyKind[]
  readonly controllers: readonly (Controller | KeyController)[]
  readonly webhooks: readonly Webhook[]
  readonly conversions: readonly Conversion[]
  readonly runnables: readonly Runnable[]
  /** Empty for all. */
  readonly namespaces: readonly string[]
  readonly leaderElection: false | LeaderElectionOptions
  readonly sharding: false | ShardingOptions
}

/** Describes an operator. Pure: nothing is registered or started. */
export function defineOperator(options: OperatorOptions): Operator {
  const {
    name,
    kinds = [],
    controllers = [],
    webhooks = [],
    conversions = [],
    runnables = [],
    namespaces = [],
  } = options
  const what = `operator "${name}"`
  refuseTwins(what, 'controllers', controllers)
  refuseTwins(what, 'runnables', runnables)
  if (namespaces.includes('')) {
    throw new TypeError(
      `Cannot define ${what} as 'namespaces' has an empty entry: leave the list empty to look at all namespaces`,
    )
  }
  const leaderElection = switched(options.leaderElection)
  const sharding = switched(options.sharding)
  if (leaderElection !== false) resolveLeaseTiming(leaderElection, what)
  if (sharding !== false) resolveLeaseTiming(sharding, what)
  return Object.freeze({
    name,
    kinds: Object.freeze([...kinds]),
    controllers: Object.freeze([...controllers]),
    webhooks: Object.freeze([...webhooks]),
    conversions: Object.freeze([...conversions]),
    runnables: Object.freeze([...runnables]),
    namespaces: Object.freeze([...namespaces]),
    leaderElection,
    sharding,
  })
}

/** Whether a controller is given keys instead of objects. */
export function isKeyController(controller: Controller | KeyController): controller is KeyController {
  return 'start' in controller
}

function switched<T extends object>(option: boolean | T | undefined): false | T {
  // Every option of both kinds can be left out.
  if (option === true) return Object.freeze({}) as T
  return option === undefined || option === false ? false : Object.freeze({ ...option })
}

function refuseTwins(what: string, field: string, parts: readonly { readonly name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of parts) {
    if (seen.has(name)) {
      throw new TypeError(`Cannot define ${what} as two ${field} are named "${name}": give one of them another 'name'`)
    }
    seen.add(name)
  }
}
