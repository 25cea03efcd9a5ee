import type { JSONSchemaProps } from '@kubewright/schema'
import { setOwn } from './own-property.ts'

/** The two fields that identify the kind of every Kubernetes object. */
export interface TypeMeta {
  apiVersion: string
  kind: string
}

declare const reads: unique symbol
/** Phantom link from a draft to the type that a read of its kind returns. Exists for the compiler only. */
export interface Reads<R> {
  readonly [reads]?: R | undefined
}

/** Whether objects of a kind belong to a namespace or to the whole cluster. */
export type Scope = 'Namespaced' | 'Cluster'

/** The names and properties of a kind that need no type parameters. */
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
  /** The schema of the whole object, resolved on first access. */
  readonly schema: JSONSchemaProps
}

type Leaf = string | number | boolean | null | undefined

/**
 * The argument type of a Kind: the fields of a draft, where any part may also be a read-only part of an object that was
 * read (the Kind copies it), and optional fields may be `undefined` (the Kind omits them).
 */
export type DraftParts<T> = T extends Leaf
  ? T
  : T extends readonly (infer E)[]
    ? readonly DraftParts<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DraftParts<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
      : T

/**
 * A kind as a value: it has the API names, carries the schema and, when called, builds a draft of an object.
 *
 * The draft never shares frozen (read) parts with the argument, so changing it cannot change a cached object. Parts
 * that are not frozen are used as they are.
 */
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

/** The argument of {@link createKind}. Optional members are derived from the kind's name. */
export interface KindDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  /** @default the kind in lower case */
  readonly singular?: string | undefined
  /** @default the kind followed by `List` */
  readonly listKind?: string | undefined
  /** @default 'Namespaced' */
  readonly scope?: Scope | undefined
  readonly shortNames?: readonly string[] | undefined
  readonly categories?: readonly string[] | undefined
  readonly subresources?: readonly string[] | undefined
  /** Called once, when the schema is first read. */
  readonly schema: () => JSONSchemaProps
}

/**
 * Creates a Kind from its names and schema. Use it for kinds whose schema comes from elsewhere, such as the built-in
 * kinds; custom resources use `defineResource`. The type arguments are not checked against the schema.
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
  // Stack traces and console.log then show the name of the kind.
  Object.defineProperty(build, 'name', { value: kind, configurable: true })
  // The phantom members exist for the compiler only.
  return build as unknown as Kind<Read, Write, Status>
}

/**
 * Copies frozen parts and omits undefined fields, at any depth. Returns `value` itself when there is nothing to copy or
 * omit.
 */
function ownParts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let items: unknown[] | undefined = Object.isFrozen(value) ? [...value] : undefined
    for (let i = 0; i < value.length; i++) {
      const item = ownParts(value[i])
      if (item !== value[i]) (items ??= [...value])[i] = item
    }
    return items ?? value
  }
  const source = value as Readonly<Record<string, unknown>>
  const names = Object.keys(source)
  const parts = names.map((name) => ownParts(source[name]))
  let isOwn = !Object.isFrozen(value)
  for (let i = 0; isOwn && i < names.length; i++) isOwn = parts[i] !== undefined && parts[i] === source[names[i]!]
  if (isOwn) return value
  const own: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) if (parts[i] !== undefined) setOwn(own, names[i]!, parts[i])
  return own
}

/** Whether the value is a Kind. */
export function isKind(value: unknown): value is AnyKind {
  return typeof value === 'function' && 'apiVersion' in value && 'plural' in value && 'kind' in value
}
