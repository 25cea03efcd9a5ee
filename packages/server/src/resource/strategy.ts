import type { FieldSet, FieldSetFilter } from '@kubewright/api'
import type { FieldError } from '@kubewright/schema'
import type { RequestContext } from '../request/request-context.ts'
import type { MutableObject } from './object.ts'

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
