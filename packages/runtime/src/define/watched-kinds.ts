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
  /** Which changes trigger a reconcile; all predicates must accept. Deletions always do. @default every change */
  readonly predicates?: readonly Predicate<T>[] | undefined
  /** Watches only objects with matching labels. @default all objects */
  readonly selector?: LabelSelection | undefined
  /** Watches only these namespaces. @default those of the operator */
  readonly namespaces?: readonly string[] | undefined
  /** Whether the kind may be missing: the watch then starts when its CRD is installed. @default false */
  readonly optional?: boolean | undefined
  /** Watches and caches only the metadata; the mapping receives nothing else. @default false */
  readonly metadataOnly?: boolean | undefined
}

/** A further kind that a controller watches, and the mapping to its keys. */
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
 * Watches a kind and maps each of its objects to the keys to reconcile. For an update, both the old and the new object
 * are mapped. A key without a namespace refers to the namespace of the changed object.
 */
export function watch<K extends AnyKind>(
  kind: K,
  toOwners: (object: Infer<K>, context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>,
  options: WatchKindOptions<Infer<K> & KubeObject> = {},
): Watch {
  return Object.freeze({ kind, toOwners: toOwners as Watch['toOwners'], ...scopeOf(options) })
}

/** Options of {@link owned}: those of {@link watch}, with these differences. */
export interface OwnedKindOptions<T extends KubeObject = KubeObject> extends WatchKindOptions<T> {
  /**
   * Watches only children with matching labels, which saves memory. Give every child the labels. `apply` then reads a
   * child that is not in the cache from the server, since the cache cannot tell a missing child from one without the
   * labels. @default all objects
   */
  readonly selector?: LabelSelection | undefined
  /** Watches only these namespaces. @default those of the controller */
  readonly namespaces?: readonly string[] | undefined
  /** Watches only the metadata, which saves memory. `apply` then reads from the server each time. @default false */
  readonly metadataOnly?: boolean | undefined
  /** Whether changes also reconcile owners that are not the controller of the object. @default false */
  readonly everyOwner?: boolean | undefined
}

/** A kind whose objects a controller applies, and how they are watched. */
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

/** Sets options for an owned kind. A plain kind in `owns` means `owned(kind)`. */
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

/** Converts a selection to the syntax of `labelSelector=`; undefined when it matches everything. */
export function selectorText(selection: LabelSelection | undefined): string | undefined {
  if (selection === undefined) return undefined
  // Always parsed, so that a mistake is reported here and not when the watch starts.
  const text = toSelector(selection).toString()
  return text === '' ? undefined : text
}

function toSelector(selection: LabelSelection): Selector {
  if (typeof selection === 'string') return parseSelector(selection)
  return selection instanceof Selector ? selection : selectorFrom(selection)
}
