import type { Quantity } from '@kubewright/base'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import type { MutableObject } from '../../resource/object.ts'

/** Quantities by resource name. */
export type Usage = Map<string, Quantity>

/** A scope that restricts a quota. */
export interface ScopeSelector {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

/** Computes the usage of objects of one resource. */
export interface QuotaEvaluator {
  /** Whether the request can change the usage. */
  readonly handles: (attributes: AdmissionAttributes) => boolean
  /** Whether a resource name of a quota applies to this resource. */
  readonly covers: (name: string) => boolean
  readonly matchesScope: (scope: ScopeSelector, object: MutableObject) => boolean
  readonly usage: (object: MutableObject, now: number) => Usage
  /** The fields that an object must set so that its usage can be computed, or undefined when it sets them. */
  readonly missing?: ((covered: readonly string[], object: MutableObject) => string | undefined) | undefined
}
