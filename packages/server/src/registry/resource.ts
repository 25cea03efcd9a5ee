import type {
  AsyncFieldManagerOptions,
  FieldManagerOptions,
  FieldSet,
  FieldSetFilter,
  KindFacts,
} from '@kubewright/api'
import type { FieldError, JSONSchemaProps } from '@kubewright/schema'
import type { StoredObject } from '../cache/stored-object.ts'
import type { RequestContext } from '../request-context.ts'
import type { DecodeRequest } from '../verbs/read-body.ts'

/** An object while the server works on it: plain JSON that may be changed in place. */
export interface MutableObject {
  apiVersion: string
  kind: string
  metadata: MutableMeta
  [field: string]: unknown
}

/** Metadata while the server works on it. */
export interface MutableMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: {
    apiVersion: string
    kind: string
    name: string
    uid: string
    controller?: boolean
    blockOwnerDeletion?: boolean
  }[]
  finalizers?: string[]
  managedFields?: ManagedFields
  [field: string]: unknown
}

/** The managed fields entries as they are stored. */
export type ManagedFields = Record<string, unknown>[]

/** What a strategy may look at besides the objects. */
export interface StrategyContext {
  readonly request: RequestContext
  /** Epoch milliseconds of this request. */
  readonly now: number
  readonly namespace: string
  /** The subresource being written, or the empty string. */
  readonly subresource: string
  readonly dryRun: boolean
}

/**
 * How one resource differs from the others. Every hook is optional; what is not given behaves as registry/rest's defaults do. Hooks
 * change the object that they are given and never keep it.
 */
export interface Strategy {
  /** Checks metadata.name (prefix: it will be followed by random characters). @default DNS subdomain */
  readonly validateName?: (name: string, prefix: boolean) => readonly string[]
  /**
   * How often an update checks metadata besides the checks that all kinds share, and what: everything as on a create, or only what may
   * not change. Kinds differ, and every check reports its own cause. @default ['update', 'create']
   */
  readonly metadataOnUpdate?: readonly ('create' | 'update')[]
  /**
   * Whether finalizers may have any name that would do for a label, as those of custom resources may. Kinds whose checks come from
   * apimachinery instead of core want no domain in it. @default false
   */
  readonly anyFinalizer?: boolean
  /** Fills what the schema's own defaults cannot say. Runs on every decoded object and on what is read from storage. */
  readonly setDefaults?: (object: MutableObject) => void
  /** Clears what a client may not set on create, such as status. */
  readonly prepareForCreate?: (object: MutableObject, context: StrategyContext) => void
  /** Carries over what a client may not change, and moves generation when the spec changed. */
  readonly prepareForUpdate?: (object: MutableObject, old: MutableObject, context: StrategyContext) => void
  /** Checks everything but metadata, which the registry checks first. */
  readonly validate?: (
    object: MutableObject,
    context: StrategyContext,
  ) => readonly FieldError[] | Promise<readonly FieldError[]>
  /** Checks an update. Whatever `validate` checks has to be repeated here where it applies to updates too. */
  readonly validateUpdate?: (
    object: MutableObject,
    old: MutableObject,
    context: StrategyContext,
  ) => readonly FieldError[] | Promise<readonly FieldError[]>
  readonly warningsOnCreate?: (object: MutableObject) => readonly string[]
  readonly warningsOnUpdate?: (object: MutableObject, old: MutableObject) => readonly string[]
  /** Whether PUT may create. @default false */
  readonly allowCreateOnUpdate?: boolean
  /** Whether an update may leave resourceVersion out. @default true */
  readonly allowUnconditionalUpdate?: boolean
  /**
   * Whether the spec drives metadata.generation: it starts at 1 and grows with every change of the spec, or of what the function says.
   * @default false
   */
  readonly generation?: boolean | ((object: MutableObject, old: MutableObject) => boolean)
  /** Graceful deletion: seconds that the object stays, given what was asked for; undefined means at once. */
  readonly gracePeriod?: (object: MutableObject, asked: number | undefined) => number | undefined
  /** Finalizers that deletion without a propagation policy implies. */
  readonly defaultPropagation?: 'Background' | 'Orphan'
  /** Whether deletes whose preconditions fail are told so in the words of storage. @default false */
  readonly preconditionsOfStorage?: boolean
  /** A Warning for deletes that do not say what becomes of dependents. */
  readonly deleteWarning?: string
  /**
   * Takes over how a deletion begins, for kinds that others clear first; may change the object. 'mark' stores it with a deletion
   * timestamp and leaves it there, 'mark-only' does so whatever propagation was asked for, 'pending' leaves it alone, 'continue'
   * deletes as usual. @default 'continue'
   */
  readonly beginDelete?: (object: MutableObject, now: number) => 'mark' | 'mark-only' | 'pending' | 'continue'
  /** Whether an object that is being deleted stays after an update although no finalizers are left. @default false */
  readonly keepDuringUpdate?: (object: MutableObject) => boolean
  /** Deletes answer with the object instead of a Status. @default false */
  readonly returnDeletedObject?: boolean
  /** Paths (as field sets) that a client's managed fields never contain, for this resource's main endpoint. */
  readonly resetFields?: FieldSet | FieldSetFilter
  /** Work that must succeed together with the write, such as allocating an address; the result undoes it if the write fails. */
  readonly beginCreate?: (object: MutableObject, context: StrategyContext) => Promise<Undo | undefined>
  readonly beginUpdate?: (
    object: MutableObject,
    old: MutableObject,
    context: StrategyContext,
  ) => Promise<Undo | undefined>
  /** Runs when an update has been stored, for what `old` had and the object has not. */
  readonly afterUpdate?: (object: MutableObject, old: MutableObject) => void
  readonly afterDelete?: (object: MutableObject, context: StrategyContext) => Promise<void>
}

/** Takes back what a `begin` hook did. */
export type Undo = () => Promise<void>

/** A column of `kubectl get`. */
export interface TableColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

/** Something that holds for the object of a row, such as that it has completed. */
export interface TableRowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

/** How objects of a resource look as table rows. */
export interface TableDefinition {
  readonly columns: readonly TableColumn[]
  readonly row: (object: MutableObject, now: number) => readonly unknown[]
  /** What clients may hide or mark a row by. */
  readonly conditions?: (object: MutableObject) => readonly TableRowCondition[] | undefined
  /** A list without objects has `null` for its rows instead of an empty list. @default false */
  readonly nullRows?: boolean
  /** Every event of a watch repeats the columns, not only the first. @default false */
  readonly repeatColumns?: boolean
}

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

export type SubresourceHandler = (
  context: RequestContext,
  resource: Resource,
) => Promise<import('../http/api-request.ts').ApiResponse>

/** Answers a create without storing the object; `admit` runs the validating admission, once the object has been checked. */
export type VirtualCreate = (
  context: RequestContext,
  object: MutableObject,
  admit: () => Promise<void>,
) => Promise<MutableObject>

/** How {@link Resource.recheck} looks at an object. */
export interface RecheckOptions {
  /** Report fields that the kind does not have. */
  readonly strict: boolean
  /** What the object was made of, which error texts depend on: JSON text, or a map of values. */
  readonly source: 'json' | 'map'
}

/** An object in its kind's form, and the unknown fields that it had. */
export interface Rechecked {
  readonly object: MutableObject
  readonly strictErrors: readonly string[]
}

/** A resource that the server serves in one version. */
export interface Resource {
  readonly kind: KindFacts
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
  /** Items of lists leave out kind and apiVersion, as those of built-in kinds do and those of custom resources do not. */
  readonly typedItems: boolean
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

/**
 * How stored objects become what clients of one version see. An object that is stored that way is passed through, so that its bytes
 * are the answer.
 */
export interface VersionedStorage {
  /** What clients of this version see; undefined when {@link VersionedStorage.load} has to be waited for first. */
  readonly peek: (stored: StoredObject) => StoredObject | undefined
  /** Makes `peek` answer for these objects; throws what the client is to be told. */
  readonly load: (stored: readonly StoredObject[]) => Promise<void>
  /** The object as it is to be stored; may change the one that it is given. */
  readonly toStorage: (object: MutableObject) => MutableObject | Promise<MutableObject>
  /** Told what {@link VersionedStorage.toStorage} became, so that reading it need not look at it again. */
  readonly wrote: (stored: StoredObject) => void
}

/** Where the objects of a resource are stored. */
export interface StorageLocation {
  /** Such as `/registry/apps/deployments/`. */
  readonly prefix: string
  /** apiVersion of the stored form. */
  readonly apiVersion: string
  readonly kind: string
}
