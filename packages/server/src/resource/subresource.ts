import type { ApiResponse, KindFacts } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import type { ManagedFields, MutableObject } from './object.ts'
import type { Resource } from './resource.ts'
import type { Strategy } from './strategy.ts'
import type { TableDefinition } from './table-definition.ts'

/** How one subresource is served. */
export interface Subresource {
  /** Its own strategy: what a write through it may change. */
  readonly strategy?: Strategy
  /** Verbs answered by the generic get, update and patch with the strategy above. */
  readonly verbs: readonly string[]
  /** Handles a request in full; for subresources that are no view of the object (log, exec, eviction, token, binding). */
  readonly handle?: SubresourceHandler
  /** The kind that it speaks, where it differs from the parent's (Scale, Eviction, TokenRequest). */
  readonly kind?: KindFacts
  /** Decodes a body of that kind. */
  readonly decode?: Resource['decode']
  /** Treats what a patch made of that kind as decoded. */
  readonly recheck?: Resource['recheck']
  /** As the resource's own, for that kind. */
  readonly empty?: Resource['empty']
  readonly normalize?: Resource['normalize']
  /** Maps between the object and what the subresource shows, for scale. */
  readonly view?: SubresourceView
  /** The errors that applies get, where the server cannot do them: to what nobody owns yet, and with an effect. */
  readonly applyProblems?: { readonly unowned: string; readonly changing: string }
  /** How what it shows looks as a table. @default as the object does */
  readonly table?: TableDefinition
}

/** A subresource that shows and takes another kind than the object's (scale). */
export interface SubresourceView {
  /** Throws when there is nothing that a reader could be shown. */
  readonly check?: (object: MutableObject) => void
  readonly show: (object: MutableObject) => MutableObject
  /** The managed fields of what is shown, which writes through it go on from. */
  readonly managedFields?: (object: MutableObject) => ManagedFields | undefined
  /** Applies what was written to the object, its managed fields included; throws when it is invalid. */
  readonly put: (object: MutableObject, view: MutableObject) => void
}

export type SubresourceHandler = (context: RequestContext, resource: Resource) => Promise<ApiResponse>
