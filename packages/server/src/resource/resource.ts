import type { AsyncFieldManagerOptions, FieldManagerOptions, KindFacts } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { RequestContext } from '../request/request-context.ts'
import type { DecodeRequest, Rechecked, RecheckOptions } from './decoding.ts'
import type { MutableObject } from './object.ts'
import type { Origin } from './origin.ts'
import type { StorageLocation, VersionedStorage } from './storage-form.ts'
import type { Strategy } from './strategy.ts'
import type { Subresource } from './subresource.ts'
import type { TableDefinition } from './table-definition.ts'

/** Answers a create without storing the object; `admit` runs the validating admission, once the object has been checked. */
export type VirtualCreate = (
  context: RequestContext,
  object: MutableObject,
  admit: () => Promise<void>,
) => Promise<MutableObject>

/** A resource that the server serves in one version. */
export interface Resource {
  readonly kind: KindFacts
  /** Whether the kind is built in or custom, and what differs because of it. */
  readonly origin: Origin
  readonly schema: JSONSchemaProps
  readonly verbs: readonly string[]
  readonly strategy: Strategy
  readonly subresources: Readonly<Record<string, Subresource>>
  readonly table?: TableDefinition | undefined
  /** Fields that field selectors may name besides metadata.name and metadata.namespace, with how to read them. */
  readonly selectableFields?: Readonly<Record<string, (object: MutableObject) => string>> | undefined
  /** The text for a field selector that is not known; kinds with a conversion of their own word it differently. */
  readonly unknownField?: ((label: string) => string) | undefined
  /** The group under which errors name the kind and the resource, for kinds that belong to another group inside. @default the kind's */
  readonly errorGroup?: string | undefined
  /** Where objects are kept: the resource of the storage version. Its key prefix ends with a slash. */
  readonly storage: StorageLocation
  /** Converts between this version and the stored one; absent when they are the same. */
  readonly convert?:
    | {
        readonly toStorage: (object: MutableObject) => MutableObject
        readonly fromStorage: (object: MutableObject) => MutableObject
      }
    | undefined
  /**
   * An object as the real server holds it, where that differs from every version that it serves. Tables and metadata alone show it so.
   */
  readonly inner?: ((object: MutableObject) => MutableObject) | undefined
  /** For resources whose stored objects may have been written in another version or under an older schema; instead of `convert`. */
  readonly versioned?: VersionedStorage | undefined
  /** An object with nothing set, with the fields that are never absent in this kind's JSON. @default kind and apiVersion */
  readonly empty?: (() => MutableObject) | undefined
  /** Adds to such an object what the real server's own form of it always has: bookmarks show it. */
  readonly bare?: ((empty: MutableObject) => MutableObject) | undefined
  /**
   * Gives an object the one form in which it is compared, or, when `stored`, the one that clients see. They differ in lists, maps and
   * times that are never left out in JSON: unset, they are absent while the server works on an object, and null for clients.
   */
  readonly normalize?: ((object: MutableObject, stored: boolean) => MutableObject) | undefined
  /** Decodes a body into an object of this resource: typed, defaulted, and pruned as its kind demands. */
  readonly decode: (body: Uint8Array, request: DecodeRequest) => MutableObject
  /** Treats an object that a patch made like one that was decoded: typed, defaulted, pruned. Throws an Error if it does not fit. */
  readonly recheck?: ((object: MutableObject, options: RecheckOptions) => Rechecked) | undefined
  /** What the field manager needs beyond the schema, such as other versions. */
  readonly fieldManager?: Partial<FieldManagerOptions> | undefined
  /** Brings an object into another version for the field manager, where that takes time; instead of its `convert`. */
  readonly convertFields?: AsyncFieldManagerOptions['convert'] | undefined
  /** A Warning that every request to this resource gets. */
  readonly deprecation?: string | undefined
  /** Answers create without storing, for virtual resources such as reviews. */
  readonly virtual?: VirtualCreate | undefined
  /** Verbs that discovery names, where they are not all that are answered. @default `verbs` */
  readonly listedVerbs?: readonly string[] | undefined
  /** Ends the watches of a resource that is no longer served this way. */
  readonly ended?: AbortSignal | undefined
}
