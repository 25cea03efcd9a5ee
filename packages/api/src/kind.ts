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
