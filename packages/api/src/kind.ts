import type { JSONSchemaProps } from '@kubewright/schema'

/** What every Kubernetes object starts with. */
export interface TypeMeta {
  apiVersion: string
  kind: string
}

declare const reads: unique symbol
/** Phantom link from a draft to the type that its kind reads back as. */
export interface Reads<R> {
  readonly [reads]?: R
}

/** Whether objects of a kind live in a namespace or beside all of them. */
export type Scope = 'Namespaced' | 'Cluster'

/** The names and facts of a kind that need no type parameters. */
export interface KindFacts {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** `group/version`, or the version alone for the core group. */
  readonly apiVersion: string
  readonly plural: string
  readonly singular: string
  readonly listKind: string
  readonly scope: Scope
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Names of the subresources, such as `status` and `scale`. */
  readonly subresources: readonly string[]
  /** The schema of the whole object, resolved when first read. */
  readonly schema: JSONSchemaProps
}

type Leaf = string | number | boolean | null | undefined

/**
 * What a draft can be made of: besides values of its own, read-only parts of objects that were read, which are copied, and
 * undefined for optional fields that are left out.
 */
export type DraftParts<T> = T extends Leaf
  ? T
  : T extends readonly (infer E)[]
    ? readonly DraftParts<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DraftParts<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
      : T

/** A Kind is a value: it names the API, carries its schema and builds drafts of its objects. */
export interface Kind<Read, Write, Status = unknown> extends KindFacts {
  (draft: DraftParts<Omit<Write, keyof TypeMeta>>): Write & Reads<Read>
  /** Type only: what a read returns. */
  readonly $read: Read
  /** Type only: what a write takes. */
  readonly $write: Write
  /** Type only: what a status write takes. */
  readonly $status: Status
}

// biome-ignore lint/suspicious/noExplicitAny: a Kind is invariant in its parameters, and only `any` accepts every one of them.
export type AnyKind = Kind<any, any, any>

/** What you read: filled by the server, defaults applied, deeply readonly. */
export type Infer<K extends AnyKind> = K['$read']

/** What you write: mutable, with defaulted fields optional. */
export type Draft<K extends AnyKind> = K['$write']

/** What {@link createKind} needs to know; what can be derived may be left out. */
export interface KindDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** @default the kind in lower case */
  readonly singular?: string
  /** @default the kind followed by `List` */
  readonly listKind?: string
  /** @default 'Namespaced' */
  readonly scope?: Scope
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly string[]
  /** Called when the schema is first read, once. */
  readonly schema: () => JSONSchemaProps
}

/**
 * Makes a Kind out of its facts. For code that gets its schemas from elsewhere, such as the built-in kinds; custom resources use
 * `defineResource`. The types are the caller's promise: nothing checks them against the schema.
 */
export function createKind<Read, Write, Status = unknown>(definition: KindDefinition): Kind<Read, Write, Status> {
  const { group, version, kind } = definition
  const apiVersion = group === '' ? version : `${group}/${version}`
  let schema: JSONSchemaProps | undefined
  const build = (draft: object): object => ({ apiVersion, kind, ...(ownParts(draft) as object) })
  const facts: Omit<KindFacts, 'schema'> = {
    group,
    version,
    kind,
    apiVersion,
    plural: definition.plural,
    singular: definition.singular ?? kind.toLowerCase(),
    listKind: definition.listKind ?? `${kind}List`,
    scope: definition.scope ?? 'Namespaced',
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    subresources: definition.subresources ?? [],
  }
  Object.assign(build, facts)
  Object.defineProperty(build, 'schema', { get: () => (schema ??= definition.schema()), enumerable: true })
  // So that stack traces and console.log show which kind it is.
  Object.defineProperty(build, 'name', { value: kind, configurable: true })
  // The phantom members exist for the compiler only.
  return build as unknown as Kind<Read, Write, Status>
}

/** The value, with parts that are frozen copied and fields that are undefined left out; itself where there are none. */
function ownParts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(ownParts)
    return Object.isFrozen(value) || items.some((item, index) => item !== value[index]) ? items : value
  }
  const entries = Object.entries(value)
  const parts = entries.map(([name, part]) => [name, ownParts(part)] as const)
  const isOwn = parts.every(([, part], index) => part !== undefined && part === entries[index]?.[1])
  return isOwn && !Object.isFrozen(value) ? value : Object.fromEntries(parts.filter(([, part]) => part !== undefined))
}

/** Whether the value is a Kind. */
export function isKind(value: unknown): value is AnyKind {
  return typeof value === 'function' && 'apiVersion' in value && 'plural' in value && 'kind' in value
}
