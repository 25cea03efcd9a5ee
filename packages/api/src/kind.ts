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

/** A Kind is a value: it names the API, carries its schema and builds drafts of its objects. */
export interface Kind<Read, Write, Status = unknown> extends KindFacts {
  (draft: Omit<Write, keyof TypeMeta>): Write & Reads<Read>
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
  const build = (draft: object): object => ({ apiVersion, kind, ...draft })
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

/** Whether the value is a Kind. */
export function isKind(value: unknown): value is AnyKind {
  return typeof value === 'function' && 'apiVersion' in value && 'plural' in value && 'kind' in value
}
