import {
  type AnyKind,
  type Infer,
  type KubeObject,
  type LabelSelectorLike,
  parseSelector,
  Selector,
  selectorFrom,
} from '@kubewright/api'
import type { Key } from '@kubewright/client'
import type { MapContext } from '../controller/sources/key-mapping.ts'
import type { Predicate } from '../controller/sources/predicate.ts'

/** A label selector in any of its forms. */
export type LabelSelection = string | LabelSelectorLike | Selector

/** Options of {@link watch}. */
export interface WatchKindOptions<T extends KubeObject = KubeObject> {
  /** Which changes matter; all must agree. Deletions always do. @default every change */
  readonly predicates?: readonly Predicate<T>[] | undefined
  /** Objects with labels that do not match are not watched. @default everything */
  readonly selector?: LabelSelection | undefined
  /** Only these namespaces. @default those of the operator */
  readonly namespaces?: readonly string[] | undefined
  /** Whether the kind may be missing: the watch then begins when its definition is installed. @default false */
  readonly optional?: boolean | undefined
  /** Watches metadata alone: the mapping gets nothing else, and the cache holds nothing else. @default false */
  readonly metadataOnly?: boolean | undefined
}

/** Changes of another kind that matter to a controller, and whom they concern. */
export interface Watch {
  readonly kind: AnyKind
  readonly toOwners: (object: never, context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>
  readonly predicates: readonly Predicate<never>[]
  /** In the syntax of `labelSelector=`. */
  readonly selector: string | undefined
  readonly namespaces: readonly string[] | undefined
  readonly optional: boolean
  readonly metadataOnly: boolean
}

/**
 * Watches a kind and maps each of its objects to the keys that must be reconciled; of an update both the old and the new object are
 * mapped. A key without a namespace means the namespace of the object that changed.
 */
export function watch<K extends AnyKind>(
  kind: K,
  toOwners: (object: Infer<K>, context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>,
  options: WatchKindOptions<Infer<K> & KubeObject> = {},
): Watch {
  return Object.freeze({ kind, toOwners: toOwners as Watch['toOwners'], ...scopeOf(options) })
}

/** Options of {@link owned}. */
export interface OwnedKindOptions<T extends KubeObject = KubeObject> {
  /** Which changes matter; all must agree. Deletions always do. @default every change */
  readonly predicates?: readonly Predicate<T>[] | undefined
  /**
   * Children with labels that do not match are not watched, which saves memory: give every child the labels. `apply` asks the server
   * each time, since the cache cannot tell a missing child from one without the labels. @default everything
   */
  readonly selector?: LabelSelection | undefined
  /** Only these namespaces. @default those of the controller */
  readonly namespaces?: readonly string[] | undefined
  /** Whether the kind may be missing: the watch then begins when its definition is installed. @default false */
  readonly optional?: boolean | undefined
  /** Watches metadata alone, which saves memory; `apply` then asks the server each time. @default false */
  readonly metadataOnly?: boolean | undefined
  /** Whether changes also concern owners that are not the controller of the object. @default false */
  readonly everyOwner?: boolean | undefined
}

/** A kind whose objects a controller makes, and how they are watched. */
export interface OwnedKind {
  readonly kind: AnyKind
  readonly predicates: readonly Predicate<never>[]
  /** In the syntax of `labelSelector=`. */
  readonly selector: string | undefined
  readonly namespaces: readonly string[] | undefined
  readonly optional: boolean
  readonly metadataOnly: boolean
  readonly everyOwner: boolean
}

/** Says how an owned kind is watched; a kind alone stands for `owned(kind)`. */
export function owned<K extends AnyKind>(kind: K, options: OwnedKindOptions<Infer<K> & KubeObject> = {}): OwnedKind {
  return Object.freeze({ kind, ...scopeOf(options), everyOwner: options.everyOwner ?? false })
}

function scopeOf(options: WatchKindOptions<never>): Omit<Watch, 'kind' | 'toOwners'> {
  const { selector, namespaces, optional = false, metadataOnly = false } = options
  return {
    predicates: Object.freeze([...(options.predicates ?? [])]),
    selector: selectorText(selector),
    namespaces: namespaces && Object.freeze([...namespaces]),
    optional,
    metadataOnly,
  }
}

/** A selection in the syntax of `labelSelector=`; undefined for one that matches everything. */
export function selectorText(selection: LabelSelection | undefined): string | undefined {
  if (selection === undefined) return undefined
  // Parsed in any case, so that a mistake shows where it was made and not when the watch begins.
  const text = toSelector(selection).toString()
  return text === '' ? undefined : text
}

function toSelector(selection: LabelSelection): Selector {
  if (typeof selection === 'string') return parseSelector(selection)
  return selection instanceof Selector ? selection : selectorFrom(selection)
}
