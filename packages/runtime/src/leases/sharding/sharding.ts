import type { Clock, Logger, MetricSink } from '@kubewright/base'
import type { LeaseStore } from '../lease-store.ts'
import type { LeaseTiming } from '../lease-timing.ts'
import type { KeyGate, WriteGate } from '../write-gate.ts'

/** Options of `createSharding`. */
export interface ShardingParts {
  readonly store: LeaseStore
  /** The prefix of the members' Leases, which identifies the group. */
  readonly leaseName: string
  /** Must be unique among the replicas. */
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
}

/** The share of this process in keys that several processes work on. */
export interface Sharding {
  /** Decides which keys belong to this process. */
  readonly keys: KeyGate
  /** Open while it is certain that no other process has taken the keys of this one. */
  readonly gate: WriteGate
  /** The members that share the keys, as this process observes them, sorted. */
  readonly members: readonly string[]
  /** Whether this process holds its share. */
  readonly joined: boolean
  /** The number of keys in process. */
  readonly held: number
  /** Takes part until the signal aborts. Failed requests are logged and retried forever. */
  run(options: { readonly signal: AbortSignal }): Promise<void>
  /** Resolves when this process has its share. */
  waitUntilJoined(options: { readonly signal: AbortSignal }): Promise<void>
  /** Releases the share at once. Must be called after `run` has ended and no key is in process. */
  leave(): Promise<void>
  /** Ends without releasing the share, because work may still be running: the other members take over its keys after the Lease expires. */
  abandon(): void
  /** Why this process holds no share, or only a part of it; undefined when there is no problem. */
  problem(): string | undefined
}
