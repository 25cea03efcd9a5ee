import { type AnyKind, createKind, type Kind, type KubeObject, type MetaDraft, type Scope } from '@kubewright/api'

/** An object whose fields the compiler knows nothing about. */
export interface DynamicObject extends KubeObject {
  readonly [field: string]: unknown
}

/** What a write of a dynamic kind takes. */
export interface DynamicDraft {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; [field: string]: unknown }
  [field: string]: unknown
}

/** A kind whose types are not known at compile time. */
export type DynamicKind = Kind<DynamicObject, DynamicDraft, unknown>

/** What {@link dynamicKind} needs to know. */
export interface DynamicKindFacts {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** @default 'Namespaced' */
  readonly scope?: Scope
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly string[]
}

/** A kind made from its names alone, for code that handles objects of any kind. */
export function dynamicKind(facts: DynamicKindFacts): DynamicKind {
  return createKind<DynamicObject, DynamicDraft>({
    ...facts,
    schema: () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  })
}

/** What can be patched of an object whose metadata alone is read. */
export interface MetadataDraft {
  apiVersion: string
  kind: string
  metadata: MetaDraft
}

/** A kind that reads metadata alone. Objects keep the `apiVersion` and `kind` that they really have. */
export type MetadataKind = Kind<KubeObject, MetadataDraft, never>

const metadataKinds = new WeakSet<object>()

/**
 * The same kind, read as metadata alone: a fraction of the bytes for the server to send and for a cache to hold. It can be read,
 * watched, patched and deleted; there is nothing to create or to update.
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

/** Whether the kind is one of {@link metadataOnly}. */
export function isMetadataOnly(kind: AnyKind): boolean {
  return metadataKinds.has(kind)
}
