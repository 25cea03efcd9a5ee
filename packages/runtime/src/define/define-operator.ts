import type { AnyKind } from '@kubewright/api'
import { type AnyMetric, isDNS1123Subdomain } from '@kubewright/base'
import type { KeyController } from '../controller/key-controller.ts'
import { type LeaseTimingOptions, resolveLeaseTiming } from '../leases/lease-timing.ts'
import type { AnyWebhook } from './any-webhook.ts'
import { lossyVersions } from './check-versions.ts'
import type { ClusterProvider } from './cluster-provider.ts'
import type { Controller } from './define-controller.ts'
import type { Conversion } from './define-conversion.ts'
import { kindsOf } from './kinds-of.ts'
import type { OperatorCacheOptions, OperatorChecks, OperatorHandlers } from './operator-settings.ts'
import type { Runnable } from './runnable.ts'

export { isKeyController } from './kinds-of.ts'

/** Leader election: only one replica of the operator works at a time. */
export interface LeaderElectionOptions extends LeaseTimingOptions {
  /** The name of the Lease. @default the name of the operator */
  readonly leaseName?: string | undefined
  /** The namespace of the Lease. @default the namespace that the operator runs in */
  readonly namespace?: string | undefined
  /**
   * Whether a replica that stops releases the Lease after its work has ended, so that another replica can lead at once.
   * @default true
   */
  readonly releaseOnStop?: boolean | undefined
  /**
   * Whether a replica that waits for the Lease watches it, so that it leads at once after another one has released it.
   * Requires the permission to watch Leases. Without it, the replica notices after a retry period. @default false
   */
  readonly watch?: boolean | undefined
  /**
   * What a leader does when it could not renew its Lease in time. Its writes are rejected in either case. `exit` ends
   * the manager with an error; `step-down` ends the work, keeps the caches and campaigns again. @default 'exit'
   */
  readonly onLost?: 'exit' | 'step-down' | undefined
}

/** Sharding: all replicas work, each on its share of the keys. */
export interface ShardingOptions extends LeaseTimingOptions {
  /** The prefix of the members' Leases. @default the name of the operator */
  readonly leaseName?: string | undefined
  /** The namespace of the Leases. @default the namespace that the operator runs in */
  readonly namespace?: string | undefined
}

/** Options of {@link defineOperator}. */
export interface OperatorOptions {
  readonly name: string
  /** Further kinds that are installed with the operator, although no controller, webhook or conversion uses them. */
  readonly kinds?: readonly AnyKind[] | undefined
  /** @default none, for an operator of webhooks or conversions only */
  readonly controllers?: readonly (Controller | KeyController)[] | undefined
  readonly webhooks?: readonly AnyWebhook[] | undefined
  /** Conversions between the versions of kinds. */
  readonly conversions?: readonly Conversion[] | undefined
  /** Further parts that run with the operator. */
  readonly runnables?: readonly Runnable[] | undefined
  /** The namespaces that the operator watches. @default all */
  readonly namespaces?: readonly string[] | undefined
  /** Whether only one replica works at a time. @default false */
  readonly leaderElection?: boolean | LeaderElectionOptions | undefined
  /**
   * Whether all replicas work, each on its share of the keys. Controllers then do not wait for leadership. @default
   * false
   */
  readonly sharding?: boolean | ShardingOptions | undefined
  /** Finds further clusters, on which the controllers run as on the main one; see `kubeconfigSecrets`. @default none */
  readonly clusters?: ClusterProvider | undefined
  /** What is cached, and in which form. @default all objects of the watched kinds, unchanged */
  readonly cache?: OperatorCacheOptions | undefined
  /** Health checks besides those of the framework. */
  readonly checks?: OperatorChecks | undefined
  /** Metrics of the operator's own code, made with `counter`, `gauge` or `histogram`. The metrics page shows them. */
  readonly metrics?: readonly AnyMetric[] | undefined
  /**
   * Further paths of the metrics server, such as `/teams`, besides `/metrics`. Where the server authorizes its clients,
   * they need permission for these paths too.
   */
  readonly metricsHandlers?: OperatorHandlers | undefined
}

/** The definition of an operator. CRDs, roles and manifests are derived from it. */
export interface Operator {
  readonly name: string
  /** The `kinds` option. Controllers, webhooks and conversions have further kinds. */
  readonly kinds: readonly AnyKind[]
  readonly controllers: readonly (Controller | KeyController)[]
  readonly webhooks: readonly AnyWebhook[]
  readonly conversions: readonly Conversion[]
  readonly runnables: readonly Runnable[]
  /** Empty for all namespaces. */
  readonly namespaces: readonly string[]
  readonly leaderElection: false | LeaderElectionOptions
  readonly sharding: false | ShardingOptions
  readonly clusters: ClusterProvider | undefined
  readonly cache: OperatorCacheOptions
  readonly checks: OperatorChecks
  readonly metrics: readonly AnyMetric[]
  readonly metricsHandlers: OperatorHandlers
}

/**
 * Defines an operator. Pure: registers and starts nothing. Throws a TypeError if versions of a kind have different
 * fields, no conversion, and no `conversion: 'none'` in their definition: the API server would drop these fields.
 */
export function defineOperator(options: OperatorOptions): Operator {
  const {
    name,
    kinds = [],
    controllers = [],
    webhooks = [],
    conversions = [],
    runnables = [],
    namespaces = [],
    cache = {},
    checks = {},
    metrics = [],
    metricsHandlers = {},
  } = options
  const what = `operator "${name}"`
  const [nameProblem] = isDNS1123Subdomain(name)
  if (nameProblem !== undefined) {
    throw new RangeError(
      `Cannot define ${what} as 'name' cannot be part of the names of its roles, Leases and Services: ${nameProblem}`,
    )
  }
  rejectDuplicates(what, 'controllers', controllers)
  rejectDuplicates(what, 'runnables', runnables)
  rejectDuplicates(
    what,
    'metrics',
    metrics.map(({ definition }) => definition),
  )
  rejectEmptyNamespace(what, 'namespaces', namespaces)
  rejectEmptyNamespace(what, 'cache.namespaces', cache.namespaces)
  for (const { kind, namespaces: ofKind } of cache.byKind ?? []) {
    rejectEmptyNamespace(what, `cache.byKind[${kind.kind}].namespaces`, ofKind)
  }
  for (const name of Object.keys({ ...checks.live, ...checks.ready })) {
    if (name === '' || name.includes('/')) {
      throw new TypeError(`Cannot define ${what} as a check is named "${name}": use a name without slashes`)
    }
  }
  for (const path of Object.keys(metricsHandlers)) {
    if (!path.startsWith('/') || path === '/' || path === '/metrics') {
      throw new TypeError(
        `Cannot define ${what} as 'metricsHandlers' has the path "${path}": use a path such as "/status"; "/metrics" is reserved`,
      )
    }
  }
  const lossy = lossyVersions(kindsOf({ kinds, controllers, webhooks, conversions }), conversions)
  if (lossy !== undefined) throw new TypeError(`Cannot define ${what} as ${lossy}`)
  const leaderElection = optionsOf(options.leaderElection)
  const sharding = optionsOf(options.sharding)
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
    clusters: options.clusters,
    cache: Object.freeze({ ...cache, ...(cache.byKind && { byKind: Object.freeze([...cache.byKind]) }) }),
    checks: Object.freeze({ ...checks }),
    metrics: Object.freeze([...metrics]),
    metricsHandlers: Object.freeze({ ...metricsHandlers }),
  })
}

function optionsOf<T extends object>(option: boolean | T | undefined): false | T {
  // All options of both types are optional.
  if (option === true) return Object.freeze({}) as T
  return option === undefined || option === false ? false : Object.freeze({ ...option })
}

function rejectEmptyNamespace(what: string, field: string, namespaces: readonly string[] = []): void {
  if (!namespaces.includes('')) return
  throw new TypeError(
    `Cannot define ${what} as '${field}' has an empty entry: use an empty list to watch all namespaces`,
  )
}

function rejectDuplicates(what: string, field: string, parts: readonly { readonly name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of parts) {
    if (seen.has(name)) {
      throw new TypeError(`Cannot define ${what} as two ${field} are named "${name}": give one of them another 'name'`)
    }
    seen.add(name)
  }
}
