import type { ObjectName, ResourceName } from './names.ts'

/** The levers that a console offers. */
export interface LeverKinds {
  /** Pods can be crashed and frozen. */
  readonly pods: boolean
  /** Writes can be failed and watches cut. */
  readonly requests: boolean
  /** Controllers can be paused and stepped. */
  readonly controllers: boolean
  /** Time is virtual and can be advanced. */
  readonly time: boolean
}

/** Writes that will fail. */
export interface FaultView {
  readonly id: number
  readonly group: string
  readonly plural: string
  readonly status: number
  readonly remaining: number
}

/** A paused controller. */
export interface PausedView {
  /** The index of the operator in `OperatorView.index`. */
  readonly operator: number
  readonly name: string
  readonly controller: string
}

/** What the levers have caused, for the banner. */
export interface LeversView {
  readonly faults: readonly FaultView[]
  readonly paused: readonly PausedView[]
  /** Virtual time as RFC 3339; absent where time is real. */
  readonly time?: string | undefined
}

/** A request that causes trouble on purpose. Refused by a console without levers. */
export type LeverAction =
  | { readonly type: 'crash' | 'freeze' | 'unfreeze'; readonly object: ObjectName }
  | { readonly type: 'cutWatches'; readonly resource: ResourceName }
  | { readonly type: 'failWrites'; readonly resource: ResourceName; readonly status: number; readonly count: number }
  | { readonly type: 'disarm'; readonly id: number }
  | {
      readonly type: 'control'
      readonly operator: number
      readonly controller: string
      readonly command: 'pause' | 'step' | 'resume'
    }
  | { readonly type: 'advance'; readonly millis: number }
