import type { FieldSet, FieldSetFilter } from '@kubewright/api'
import type { FieldError } from '@kubewright/schema'
import type { RequestContext } from '../request/request-context.ts'
import type { MutableObject } from './object.ts'

/** The write that a strategy takes part in. */
export interface StrategyContext {
  readonly request: RequestContext
  /** The time of the write in epoch milliseconds. */
  readonly now: number
  readonly namespace: string
  /** The subresource that is written, or the empty string. */
  readonly subresource: string
  readonly dryRun: boolean
  /** Generates a UUID. */
  readonly newUid: () => string
}

/**
 * The rules of one kind for creates, updates and deletes. Every member is optional; the defaults are those of registry/rest.
 *
 * A create calls prepareForCreate, beginCreate, validate and warningsOnCreate in this order; an update calls beginUpdate,
 * prepareForUpdate, validateUpdate and warningsOnUpdate. A write that loses a race is repeated, so that all of them may run several
 * times for one request. Hooks may change `object` in place, never `old`, and must not keep either.
 */
export interface Strategy {
  /** Checks metadata.name; with `prefix` a generateName, to which the server appends random characters. @default DNS subdomain */
  readonly validateName?: ((name: string, prefix: boolean) => readonly string[]) | undefined
  /** Whether generateName becomes the name without a random suffix. @default false */
  readonly namesWithoutSuffix?: boolean | undefined
  /**
   * The checks of metadata that an update repeats besides those of all kinds: all checks of a create, or the immutable fields only. Each
   * check reports its own causes, and kinds differ in how many they run. @default ['update', 'create']
   */
  readonly metadataOnUpdate?: readonly ('create' | 'update')[] | undefined
  /** Whether a create checks metadata together with the fields of the kind, or only if these are valid. @default true */
  readonly metadataOnCreate?: boolean | undefined
  /**
   * Whether any qualified name is a valid finalizer, even one without a domain. True for kinds that are validated by apimachinery and
   * not by core. @default false
   */
  readonly anyFinalizer?: boolean | undefined
  /** Sets defaults that the schema cannot express. Runs on every decoded object. */
  readonly setDefaults?: ((object: MutableObject) => void) | undefined
  /** Clears fields that clients cannot set on create, such as status. */
  readonly prepareForCreate?: ((object: MutableObject, context: StrategyContext) => void) | undefined
  /** Copies fields that clients cannot change from `old`. */
  readonly prepareForUpdate?:
    | ((object: MutableObject, old: MutableObject, context: StrategyContext) => void)
    | undefined
  /** Validates everything but metadata, which the registry validates first. */
  readonly validate?:
    | ((object: MutableObject, context: StrategyContext) => readonly FieldError[] | Promise<readonly FieldError[]>)
    | undefined
  /** Validates an update. Runs instead of `validate`, and must repeat its checks that apply to updates. */
  readonly validateUpdate?:
    | ((
        object: MutableObject,
        old: MutableObject,
        context: StrategyContext,
      ) => readonly FieldError[] | Promise<readonly FieldError[]>)
    | undefined
  readonly warningsOnCreate?: ((object: MutableObject) => readonly string[]) | undefined
  readonly warningsOnUpdate?: ((object: MutableObject, old: MutableObject) => readonly string[]) | undefined
  /** Whether PUT creates an object that does not exist. @default false */
  readonly allowCreateOnUpdate?: boolean | undefined
  /** Whether server-side apply through a subresource creates an object that does not exist. @default false */
  readonly allowCreateOnApply?: boolean | undefined
  /** Whether an update may omit resourceVersion. @default true */
  readonly allowUnconditionalUpdate?: boolean | undefined
  /**
   * Whether metadata.generation starts at 1 and grows with every change of the spec, or with every change that the function reports.
   * @default false
   */
  readonly generation?: boolean | ((object: MutableObject, old: MutableObject) => boolean) | undefined
  /** The grace period of a deletion in seconds, given that of the request; undefined deletes without one. @default none */
  readonly gracePeriod?: ((object: MutableObject, requested: number | undefined) => number | undefined) | undefined
  /** The propagation policy of deletes that name none. Unsupported ignores the policy of the request too. @default Background */
  readonly defaultPropagation?: 'Background' | 'Orphan' | 'Unsupported' | undefined
  /** Whether deletes with the deprecated option `orphanDependents: false` wait for the dependents. @default false */
  readonly foregroundWithoutOrphans?: boolean | undefined
  /** Whether failed preconditions of a delete are reported with the text of the storage layer. @default false */
  readonly preconditionsOfStorage?: boolean | undefined
  /** A Warning for deletes that name no propagation policy. */
  readonly deleteWarning?: string | undefined
  /**
   * Overrides the start of a deletion, for kinds that a controller empties first (namespaces, custom resource definitions). May change
   * the object. `mark` stores the object with a deletion timestamp; `mark-only` does so and ignores the propagation policy; `pending`
   * changes nothing; `continue` deletes as usual. @default 'continue'
   */
  readonly beginDelete?:
    | ((object: MutableObject, now: number) => 'mark' | 'mark-only' | 'pending' | 'continue')
    | undefined
  /** Whether an update keeps an object under deletion that has no finalizers left. @default false */
  readonly keepDuringUpdate?: ((object: MutableObject) => boolean) | undefined
  /**
   * Whether the first update of an object is stored even if it changes nothing. kube-apiserver stores new objects of some kinds without
   * defaults that it adds when it reads them, and the first update stores these. @default false
   */
  readonly storesFirstUpdate?: ((object: MutableObject) => boolean) | undefined
  /** Whether a delete responds with the object instead of a Status. @default false */
  readonly returnDeletedObject?: boolean | undefined
  /** Fields that writes through this endpoint cannot change, and that their managed fields therefore never contain. */
  readonly resetFields?: FieldSet | FieldSetFilter | undefined
  /** Whether `resetFields` applies to managers of the served version only, as for custom resources. @default managers of all versions */
  readonly resetsOwnVersionOnly?: boolean | undefined
  /** Reserves what must be taken together with the write, such as an address. The result releases it when the object is not stored. */
  readonly beginCreate?: ((object: MutableObject, context: StrategyContext) => Promise<Undo | undefined>) | undefined
  readonly beginUpdate?:
    | ((object: MutableObject, old: MutableObject, context: StrategyContext) => Promise<Undo | undefined>)
    | undefined
  /** Runs after an update was stored, to release what only `old` used. */
  readonly afterUpdate?: ((object: MutableObject, old: MutableObject) => void | Promise<void>) | undefined
  /** Runs after an object was removed. */
  readonly afterDelete?: ((object: MutableObject, context: StrategyContext) => Promise<void>) | undefined
}

/** Releases what a `begin` hook has reserved. `error` is the reason why the object was not stored, unless another write came first. */
export type Undo = (error?: unknown) => Promise<void>
