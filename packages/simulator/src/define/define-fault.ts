import type { FaultClass } from './fault-classes.ts'
import type { FaultCluster, FaultNetwork, FaultProcess } from './fault-levers.ts'
import type { RequestFacts } from './request-facts.ts'

/**
 * A fault of one schedule. `at` is the number of an action of the operator, counted from 1: a request, except for watches, Leases, Events
 * and discovery, or a call to the world outside the cluster. The other members are parameters of its kind; durations are in milliseconds of
 * virtual time, and a parameter `pick` selects one of several targets. A fault is JSON, because the ID of a schedule contains it.
 */
export type Fault = {
  readonly kind: string
  readonly at: number
  readonly [parameter: string]: string | number | boolean | undefined
}

/** The facts of a simulation that decide which faults are possible. */
export interface FaultFacts {
  /** The plurals of the resources that the operator watches. */
  readonly watchedResources: readonly string[]
  readonly hasWebhooks: boolean
  /** Whether the cluster runs pods. */
  readonly hasPods: boolean
  /** Whether the operator or its workloads use volumes. */
  readonly hasVolumes: boolean
  /** The number of replicas in schedules about leader election. */
  readonly replicas: number
}

/** What happens to the action at which a fault happens. */
export interface Injection {
  readonly crash?: 'before' | 'after' | 'between' | undefined
  /** The status of an answer without effect. */
  readonly status?: number | undefined
  /** Whether another writer changes the object first, so that a write of an old version is refused. */
  readonly isConflict?: boolean | undefined
  readonly lost?: 'before' | 'after' | undefined
  /** Milliseconds that the request takes in addition. */
  readonly slow?: number | undefined
}

/** Where an action is: in the last operation, in an earlier one, or in an earlier one with the next operation during the fault. */
export type FaultPlace = 'last' | 'early' | 'during'

/** A consequence of a fault for which no operator is responsible. Oracles take it into account. */
export type FaultConsequence = 'children are changed' | 'pods are deleted' | 'time jumps'

/** What a fault can do, at the action at which it happens. */
export interface FaultContext {
  /** The process that performs the action. */
  readonly process: FaultProcess
  /** The request; undefined if the action is a call to the world outside the cluster. */
  readonly request: RequestFacts | undefined
  readonly network: FaultNetwork
  readonly cluster: FaultCluster
  /** Adds a sentence to the story. */
  note(actor: 'user' | 'cluster', text: string): void
  /** Makes the fault last for this time from now on, if it does not last longer anyway. The end state is compared when all faults have ended. */
  lasts(millis: number): void
  /** Does something after a time. The fault lasts at least as long. */
  later(millis: number, run: () => void): void
}

/** A kind of fault. Optional members have the default that is right for most kinds. */
export interface FaultDefinition<F extends Fault = Fault> {
  readonly kind: F['kind']
  /** The class by which users select it. A class of your own is explored after the turns of the others. */
  readonly class: FaultClass | (string & {})
  /** What it does, for the documentation: a part of a sentence. */
  readonly summary: string
  /** The faults of this kind to try at an action, if they are possible. */
  points(at: number, facts: FaultFacts): readonly F[]
  /**
   * How long it keeps the operator from seeing or doing something, in milliseconds; 0 for a fault of an instant. The fault lasts at least
   * as long, and the user performs operations during it.
   */
  duration(fault: F): number
  /** Describes what it does, as the end of a sentence. `action` describes the action at which it happens. */
  describe(fault: F, action: string): string
  /** Makes it happen, and returns what it does to the action itself, if anything. */
  inject(fault: F, context: FaultContext): Injection | void
  /** The last action at which it happens. @default the action `at` */
  lastAction?(fault: F): number
  /** Whether it differs at a read from the same fault at a write nearby. @default false */
  mattersAtReads?(fault: F): boolean
  /** Lowers the priority of points that seldom find more than others. @default 4 at actions of earlier operations, else 0 */
  penalty?(fault: F, place: FaultPlace): number
  /** Whether it may lead to another end state, which is not compared then: it never ends, or deadlines of the operator pass. @default false */
  hasOwnEnd?(fault: F): boolean
  /** A simpler fault to try when a failure is shrunk. @default none */
  simpler?(fault: F): Fault | undefined
  /** Whether its duration begins later than the action: then `inject` calls `lasts` when it does. @default false */
  readonly isDelayed?: boolean | undefined
  /** Whether it needs several replicas of the operator. @default false */
  readonly needsReplicas?: boolean | undefined
  /** @default none */
  readonly consequences?: readonly FaultConsequence[] | undefined
  /** Faults to try at the creation of the samples, right after the basic operations. @default none */
  opening?(facts: FaultFacts): readonly F[]
  /** Pairs of faults at one action that find more than each of both. @default none */
  pairs?(at: number): readonly (readonly Fault[])[]
}

/**
 * Defines a kind of fault, for the option `extraFaults` of `simulate`. The built-in kinds are defined in the same way.
 *
 * @example
 * ```ts
 * type Brownout = { readonly kind: 'brownout'; readonly at: number; readonly for: number }
 *
 * const brownout = defineFault<Brownout>({
 *   kind: 'brownout',
 *   class: 'brownout',
 *   summary: 'the API server answers every request with 503',
 *   points: (at) => [{ kind: 'brownout', at, for: 10_000 }],
 *   duration: (fault) => fault.for,
 *   describe: (fault, action) => `the API server answers with 503 for ${fault.for} ms, from ${action} on`,
 *   inject: (fault, { network }) => network.refuse(fault.for, () => ({ status: 503 })),
 * })
 * ```
 */
export function defineFault<F extends Fault>(definition: FaultDefinition<F>): FaultDefinition<F> {
  return definition
}

/** A duration in a description. */
export const seconds = (millis: number): string => (millis % 1000 === 0 ? `${millis / 1000} s` : `${millis} ms`)
