import {
  type ApplyFieldsOptions,
  type AsyncFieldManager,
  createAsyncFieldManager,
  createFieldManager,
  type FieldManager,
  type KindFacts,
  type UpdateFieldsOptions,
} from '@kubewright/api'
import type { MutableObject } from '../../resource/object.ts'
import type { ObjectCodec } from '../../resource/object-codec.ts'
import type { Resource } from '../../resource/resource.ts'
import type { Strategy } from '../../resource/strategy.ts'

/** What a {@link FieldTracker} is built from. */
export interface TrackedEndpoint {
  readonly resource: Resource
  readonly subresource: string
  /** The kind that clients send and receive, and its codec. */
  readonly kind: KindFacts
  readonly codec: ObjectCodec
  readonly strategy: Strategy
}

/**
 * Records in metadata.managedFields which manager owns which field of the objects of one endpoint. Results are promises only for kinds
 * that a webhook converts.
 */
export class FieldTracker {
  readonly #endpoint: TrackedEndpoint
  #manager: FieldManager | AsyncFieldManager | undefined

  constructor(endpoint: TrackedEndpoint) {
    this.#endpoint = endpoint
  }

  /** The next object with the changes against `live` recorded, as for every write that is no apply. Takes over `next`. */
  update(
    live: MutableObject | undefined,
    next: MutableObject,
    options: UpdateFieldsOptions,
  ): MutableObject | Promise<MutableObject> {
    const { toOwnedForm, needsOwnedForm } = this.#endpoint.codec
    // Either both have the owned form or neither has: the nulls of one would count as changes of the other.
    const isNeeded = needsOwnedForm?.(next) || (live !== undefined && needsOwnedForm?.(live))
    if (!toOwnedForm || !isNeeded)
      return this.#fields.updateNoErrors(live, next, options) as MutableObject | Promise<MutableObject>
    const owned = toOwnedForm(next)
    // The owned form has no empty lists, but an empty list of managers asks the server to forget them.
    const { managedFields } = next.metadata
    const sent = managedFields?.length === 0 ? { ...owned, metadata: { ...owned.metadata, managedFields } } : owned
    const tracked = this.#fields.updateNoErrors(live && toOwnedForm(live), sent, options)
    const take = ({ metadata }: MutableObject): MutableObject => {
      if (metadata.managedFields) next.metadata.managedFields = metadata.managedFields
      else delete next.metadata.managedFields
      return next
    }
    return tracked instanceof Promise
      ? tracked.then((each) => take(each as MutableObject))
      : take(tracked as MutableObject)
  }

  /**
   * Merges the fields that a manager applies into an object (server-side apply). May share parts with `live` and `config`. `merged` is
   * false when only the ownership may have changed.
   */
  async apply(
    live: MutableObject | undefined,
    config: MutableObject,
    options: ApplyFieldsOptions,
  ): Promise<{ readonly object: MutableObject; readonly merged: boolean }> {
    const { toOwnedForm, needsOwnedForm } = this.#endpoint.codec
    const owned = live && toOwnedForm && needsOwnedForm?.(live) ? toOwnedForm(live) : live
    const { object, merged } = await this.#fields.apply(owned, config, options)
    if (merged || !live) return { object: object as MutableObject, merged: true }
    const { managedFields: _, ...metadata } = live.metadata
    const { managedFields } = (object as MutableObject).metadata
    return {
      object: { ...live, metadata: { ...metadata, ...(managedFields ? { managedFields } : {}) } },
      merged: false,
    }
  }

  /** Created by the first write, because it compiles the schema. */
  get #fields(): FieldManager | AsyncFieldManager {
    if (this.#manager) return this.#manager
    const { resource, subresource, kind, codec, strategy } = this.#endpoint
    // A view such as Scale is of another kind, which has neither other versions nor fields that are reset.
    const own = kind === resource.kind
    const versions = own ? resource.conversion.fields : undefined
    const { resetFields, resetsOwnVersionOnly } = strategy
    const options = {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      subresource,
      ...(codec.empty ? { emptyObject: codec.empty() } : {}),
      schemaFor: (apiVersion: string) => (apiVersion === kind.apiVersion ? kind.schema : undefined),
      ...(own && resetFields
        ? {
            resetFields: (version: string) =>
              resetsOwnVersionOnly && version !== kind.apiVersion ? undefined : resetFields,
          }
        : {}),
      ...(versions ? { schemaFor: versions.schemaFor, convert: versions.convert } : {}),
    }
    const convert = versions?.convertAsync
    this.#manager = convert ? createAsyncFieldManager({ ...options, convert }) : createFieldManager(options)
    return this.#manager
  }
}
