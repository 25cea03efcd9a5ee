import type { Clock, Logger, MetricSink } from '@kubewright/base'
import type { LeaseStore } from '../lease-store.ts'
import type { LeaseTiming } from '../lease-timing.ts'
import type { KeyGate, WriteGate } from '../write-gate.ts'

/** What `createSharding` takes. */
export interface ShardingParts {
  readonly store: LeaseStore
  /** What the names of the members' Leases begin with, and what makes them one group. */
  readonly leaseName: string
  /** Must differ from that of every other replica. */
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
}

/** The share of this process in keys that several processes work on. */
export interface Sharding {
  /** Says which keys are this process's. */
  readonly keys: KeyGate
  /** Open while this process can be sure that no other one has taken its keys. */
  readonly gate: WriteGate
  /** Those among whom the keys are shared, as this process sees it, in order. */
  readonly members: readonly string[]
  /** Whether this process holds its share. */
  readonly joined: boolean
  /** How many keys are being worked on. */
  readonly held: number
  /** Takes part until the signal aborts. Requests that fail are logged and repeated for ever. */
  run(options: { readonly signal: AbortSignal }): Promise<void>
  /** Resolves when this process has its share. */
  waitUntilJoined(options: { readonly signal: AbortSignal }): Promise<void>
  /** Gives the share back at once. To be called after `run` has ended and nothing is being worked on. */
  leave(): Promise<void>
  /** Gives nothing back, because work may still be going on: the others wait until the Lease expires. */
  abandon(): void
  /** Why this process does not hold its share, or not all of it; undefined when all is well. */
  problem(): string | undefined
}
