import type { ApiResponse, KindFacts } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import type { ManagedFields, MutableObject } from './object.ts'
import type { ObjectCodec } from './object-codec.ts'
import type { Resource } from './resource.ts'
import type { Strategy } from './strategy.ts'
import type { TableDefinition } from './table-definition.ts'

/** How one subresource is served. */
export interface Subresource {
  /** Rules for writes through the subresource. @default the resource's */
  readonly strategy?: Strategy | undefined
  /** Verbs that the generic get, update and patch answer; for a `handle`, the verbs that it accepts. */
  readonly verbs: readonly string[]
  /** Handles a request in full, for subresources that are no view of the object (log, exec, eviction, token, binding). */
  readonly handle?: SubresourceHandler | undefined
  /** The kind that clients send and receive, where it is not the resource's (Scale, Eviction, TokenRequest). */
  readonly kind?: KindFacts | undefined
  /** Decodes that kind. @default the resource's */
  readonly codec?: ObjectCodec | undefined
  /** Maps between the stored object and an object of that kind, for scale. */
  readonly view?: SubresourceView | undefined
  /** Error texts for server-side applies, where kube-apiserver cannot do them. */
  readonly applyProblems?: ApplyProblems | undefined
  /** Columns of the object that the subresource shows. @default the resource's */
  readonly table?: TableDefinition | undefined
  /** Whether clients can receive a Table. kube-apiserver implements it for most, but not for all subresources. @default true */
  readonly hasTable?: boolean | undefined
}

/** Why a server-side apply fails. */
export interface ApplyProblems {
  /** For an object that has no managed fields yet. */
  readonly unowned: string
  /** For an apply that would change the object. */
  readonly changing: string
}

/** A subresource that shows and accepts another kind than that of the stored object (scale). */
export interface SubresourceView {
  /** Throws when the object cannot be shown; called before reads. */
  readonly check?: ((object: MutableObject) => void) | undefined
  /** The object as clients of the subresource see it. */
  readonly show: (object: MutableObject) => MutableObject
  /** The object as writes through the subresource start from it. @default as clients see it */
  readonly showForWrite?: ((object: MutableObject) => MutableObject) | undefined
  /** The managed fields of the shown object, from which writes through the subresource continue. */
  readonly managedFields?: ((object: MutableObject) => ManagedFields | undefined) | undefined
  /** Writes a shown object back into the stored one, managed fields included. Changes `object`; throws when `view` is invalid. */
  readonly put: (object: MutableObject, view: MutableObject) => void
}

export type SubresourceHandler = (context: RequestContext, resource: Resource) => Promise<ApiResponse>
