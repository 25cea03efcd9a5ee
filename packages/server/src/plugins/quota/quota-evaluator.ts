import type { Quantity } from '@kubewright/base'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import type { MutableObject } from '../../resource/object.ts'

/** Amounts by resource name. */
export type Usage = Map<string, Quantity>

/** A scope that a quota restricts itself to. */
export interface ScopeSelector {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Knows what objects of one resource use up. */
export interface QuotaEvaluator {
  /** Whether the request can change what is used. */
  readonly handles: (attributes: AdmissionAttributes) => boolean
  /** Whether a quota of this name is about the resource. */
  readonly covers: (name: string) => boolean
  readonly matchesScope: (scope: ScopeSelector, object: MutableObject) => boolean
  readonly usage: (object: MutableObject, now: number) => Usage
  /** What the object must say so that its use can be counted; undefined when it does. */
  readonly missing?: (covered: readonly string[], object: MutableObject) => string | undefined
}
