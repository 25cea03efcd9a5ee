import type { DeepReadonly } from '@kubewright/base'
import type { Fields, ObjectIn, ObjectOut, Schema, ValidationRule } from '@kubewright/schema'
import type { Kind, Scope, TypeMeta } from '../kind.ts'
import type { KubeObject, MetaDraft } from '../object-meta.ts'

/** Any schema built with `s`. */
export type AnySchema = Schema<unknown, unknown>

/** A path into the object as CRDs write it: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`. */
export type FieldPathText = `.${string}`

/** A printer column of `kubectl get`, for when a path alone is not enough. */
export interface Column {
  readonly jsonPath: FieldPathText
  /** @default the type of the field in the schema */
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'date' | undefined
  /** The print format of the value, for example `date-time` or `int32`. */
  readonly format?: string | undefined
  readonly description?: string | undefined
  /** Columns with a priority above 0 are shown by `kubectl get -o wide` only. @default 0 */
  readonly priority?: number | undefined
}

/** The `/scale` subresource, which `kubectl scale` and autoscalers use. */
export interface Scale {
  readonly specReplicasPath: FieldPathText
  readonly statusReplicasPath: FieldPathText
  /** A string field in the status that holds the label selector of the pods, for autoscalers. */
  readonly labelSelectorPath?: FieldPathText | undefined
}

/** The part of a definition that may differ between versions. */
export interface VersionDefinition<Sp extends AnySchema, St extends AnySchema, F extends Fields> {
  /** The purpose of the kind; `kubectl explain` shows it. */
  readonly description?: string | undefined
  /** The desired state. An `.optional()` schema makes the field optional. */
  readonly spec?: Sp | undefined
  /** The observed state. Adds the `/status` subresource. */
  readonly status?: St | undefined
  /**
   * Adds the `/status` subresource without a status schema, as some external definitions do. API servers prune what is
   * written there. Not needed with `status`.
   */
  readonly statusSubresource?: true | undefined
  /**
   * Top-level fields besides `spec` and `status`, for kinds that do not follow the convention. A `status` field here is
   * an ordinary field without a subresource.
   */
  readonly fields?: F | undefined
  /**
   * A schema for `metadata.name` in addition to the rules of Kubernetes, e.g. `s.string({ maxLength: 40 })` to leave
   * room for suffixes.
   */
  readonly objectName?: AnySchema | undefined
  /** CEL rules on the whole object. They can read `self.metadata.name`. */
  readonly rules?: readonly ValidationRule[] | undefined
  /**
   * Columns of `kubectl get` by title. Without any, the age is shown; with some, add
   * `Age: '.metadata.creationTimestamp'` to keep it.
   */
  readonly columns?: Readonly<Record<string, FieldPathText | Column>> | undefined
  /** Fields that field selectors of lists and watches may use. */
  readonly selectableFields?: readonly FieldPathText[] | undefined
  readonly scale?: Scale | undefined
  /** Keeps unknown top-level fields instead of pruning them. @default false */
  readonly preserveUnknownFields?: boolean | undefined
}

/** The part of a definition that all versions share. */
export interface ResourceNames {
  /** A domain that you own, such as `homes.example.com`. */
  readonly group: string
  /** The name of the kind in CamelCase, such as `Home`. */
  readonly kind: string
  /** @default 'Namespaced' */
  readonly scope?: Scope | undefined
  /** The name in URLs and on the command line. @default derived from the kind: `homes` */
  readonly plural?: string | undefined
  /** @default the kind in lower case */
  readonly singular?: string | undefined
  /** @default the kind followed by `List` */
  readonly listKind?: string | undefined
  readonly shortNames?: readonly string[] | undefined
  /** Resource groupings such as `all`, which `kubectl get all` lists. */
  readonly categories?: readonly string[] | undefined
  /**
   * True when another project owns the definition. Installing the operator then leaves the CustomResourceDefinition
   * alone. An external definition may contain what API servers accept although it is unusual: a kind that is not in
   * CamelCase, columns and scale paths of fields that are not in the schema. @default false
   */
  readonly external?: boolean | undefined
  /** Labels and annotations of the CustomResourceDefinition itself. */
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined
        readonly annotations?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}

/** The definition of a resource with one version. */
export interface ResourceDefinition<V extends string, Sp extends AnySchema, St extends AnySchema, F extends Fields>
  extends ResourceNames,
    VersionDefinition<Sp, St, F> {
  /** `v1`, `v1beta1`, `v1alpha1` and the like. */
  readonly version: V
}

/** One version in the definition of a resource with several versions. */
export interface OneOfVersions<Sp extends AnySchema, St extends AnySchema, F extends Fields>
  extends VersionDefinition<Sp, St, F> {
  /** Whether objects are stored in this version. Exactly one version must be true. */
  readonly storage?: boolean | undefined
  /** Whether the API server serves the version. @default true */
  readonly served?: boolean | undefined
  /**
   * Sends a warning with each response to a request for this version; a string replaces the default text. @default
   * false
   */
  readonly deprecated?: boolean | string | undefined
}

/** The versions of a resource by name. */
export type AnyVersions = Readonly<Record<string, OneOfVersions<AnySchema, AnySchema, Fields>>>

/**
 * The definition of a resource with several versions. Each version has its own Kind; the resource is the Kind of the
 * storage version.
 */
export interface MultiVersionDefinition<Vs extends AnyVersions> extends ResourceNames {
  readonly versions: Vs
  /**
   * `none` states that versions with different fields need no conversion: the API server then changes only the apiVersion
   * and drops the fields that the requested version lacks. Operators refuse such versions otherwise. @default a
   * conversion is required if a version would lose fields of another
   */
  readonly conversion?: 'none' | undefined
}

// The schemas of the top-level fields that a definition names.
type TopFields<Sp, F> = ([Sp] extends [never] ? unknown : { readonly spec: Sp }) & F

// A mapped type makes editors show one object type instead of an intersection.
type Flat<T> = { [K in keyof T]: T[K] } & unknown

/** The type that a read of a resource returns. */
export type ResourceRead<Sp, St, F> = Flat<
  KubeObject &
    DeepReadonly<
      (TopFields<Sp, F> extends infer T extends Fields ? ObjectOut<T> : unknown) &
        // eslint-disable-next-line kubewright/optional-member -- JSON
        ([St] extends [never] ? unknown : { status?: St extends AnySchema ? Exclude<St['$out'], undefined> : never })
    >
>

/** The type that a write of a resource takes. */
export type ResourceWrite<Sp, F> = Flat<
  TypeMeta & { metadata: MetaDraft } & (TopFields<Sp, F> extends infer T extends Fields ? ObjectIn<T> : unknown)
>

/** The Kind of one version of a resource. */
export type ResourceKind<Sp, St, F> = Kind<
  ResourceRead<Sp, St, F>,
  ResourceWrite<Sp, F>,
  St extends AnySchema ? Exclude<St['$in'], undefined> : never
>

type SpecOf<D> = D extends { readonly spec: infer Sp extends AnySchema } ? Sp : never
type StatusOf<D> = D extends { readonly status: infer St extends AnySchema } ? St : never
type FieldsOf<D> = D extends { readonly fields: infer F extends Fields } ? F : unknown
type KindOf<D> = ResourceKind<SpecOf<D>, StatusOf<D>, FieldsOf<D>>
type StorageKey<Vs> = { [V in keyof Vs]: Vs[V] extends { readonly storage: true } ? V : never }[keyof Vs]

/** The Kind of a resource with several versions: that of the storage version, with all of them in `versions`. */
export type MultiVersionKind<Vs extends AnyVersions> = KindOf<Vs[StorageKey<Vs>]> & {
  /** The Kind of every version by name. */
  readonly versions: { readonly [V in keyof Vs]: KindOf<Vs[V]> }
}
