import { type AnyKind, createKind, type Kind, type KubeObject, type MetaDraft, type Scope } from '@kubewright/api'

/** An object whose fields are not known at compile time. */
export interface DynamicObject extends KubeObject {
  readonly [field: string]: unknown
}

/** The write type of a dynamic kind. */
export interface DynamicDraft {
  apiVersion: string
  kind: string
  // eslint-disable-next-line kubewright/optional-member -- JSON
  metadata: { name: string; namespace?: string; [field: string]: unknown }
  [field: string]: unknown
}

/** A kind whose types are not known at compile time. */
export type DynamicKind = Kind<DynamicObject, DynamicDraft, unknown>

/** The names of a {@link dynamicKind}. */
export interface DynamicKindFacts {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** @default 'Namespaced' */
  readonly scope?: Scope | undefined
  readonly singular?: string | undefined
  readonly shortNames?: readonly string[] | undefined
  readonly categories?: readonly string[] | undefined
  readonly subresources?: readonly string[] | undefined
}

/** Creates a kind from its names, for code that handles objects of any kind. */
export function dynamicKind(facts: DynamicKindFacts): DynamicKind {
  return createKind<DynamicObject, DynamicDraft>({
    ...facts,
    schema: () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  })
}

/** The write type of {@link metadataOnly} kinds. */
export interface MetadataDraft {
  apiVersion: string
  kind: string
  metadata: MetaDraft
}

/** A kind that is read as metadata only. Objects keep their actual `apiVersion` and `kind`. */
export type MetadataKind = Kind<KubeObject, MetadataDraft, never>

const metadataKinds = new WeakSet<object>()

/**
 * The same kind, read as metadata only, which reduces the bytes that the server sends and that a cache holds. Objects
 * can be read, watched, patched and deleted, but not created or updated.
 */
export function metadataOnly(kind: AnyKind): MetadataKind {
  const { group, version, plural, singular, listKind, scope, shortNames, categories, subresources } = kind
  const names = { group, version, kind: kind.kind, plural, singular, listKind, scope }
  const made = createKind<KubeObject, MetadataDraft, never>({
    ...names,
    shortNames,
    categories,
    subresources,
    schema: () => ({ type: 'object' }),
  })
  metadataKinds.add(made)
  return made
}

/** Whether the kind was created by {@link metadataOnly}. */
export function isMetadataOnly(kind: AnyKind): boolean {
  return metadataKinds.has(kind)
}
