import type { DeepReadonly } from '@kubewright/base'
import type { Fields, ObjectIn, ObjectOut, Schema, ValidationRule } from '@kubewright/schema'
import type { Kind, Scope, TypeMeta } from '../kind.ts'
import type { KubeObject, MetaDraft } from '../object-meta.ts'

/** Any schema made with `s`. */
export type AnySchema = Schema<unknown, unknown>

/** A path into the object as CRDs write it: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`. */
export type FieldPathText = `.${string}`

/** A column that `kubectl get` shows, when its path alone does not say enough. */
export interface Column {
  readonly jsonPath: FieldPathText
  /** @default what the schema says at the path */
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'date'
  /** How to print the value, for instance `date-time` or `int32`. */
  readonly format?: string
  readonly description?: string
  /** Columns with a priority above 0 are shown by `kubectl get -o wide` only. @default 0 */
  readonly priority?: number
}

/** The `/scale` subresource: what `kubectl scale` and autoscalers use. */
export interface Scale {
  readonly specReplicasPath: FieldPathText
  readonly statusReplicasPath: FieldPathText
  /** A string field in the status that holds the label selector of the pods, for autoscalers. */
  readonly labelSelectorPath?: FieldPathText
}

/** What may differ from version to version of a resource. */
export interface VersionDefinition<Sp extends AnySchema, St extends AnySchema, F extends Fields> {
  /** What the kind is for, shown by `kubectl explain`. */
  readonly description?: string
  /** The desired state. A schema that is `.optional()` makes the field so. */
  readonly spec?: Sp
  /** The observed state; having one adds the `/status` subresource. */
  readonly status?: St
  /**
   * Adds the `/status` subresource without a status in the schema, as some definitions of others do. API servers drop what is written
   * there; with a `status` the subresource needs no mention.
   */
  readonly statusSubresource?: true
  /**
   * Further fields beside `spec` and `status`, for kinds that do not follow the convention. A `status` among them is a field like any
   * other, without the subresource.
   */
  readonly fields?: F
  /** What `metadata.name` has to be, besides what Kubernetes asks of names: `s.string({ maxLength: 40 })` leaves room for suffixes. */
  readonly objectName?: AnySchema
  /** CEL rules on the whole object; `self.metadata.name` is in their reach. */
  readonly rules?: readonly ValidationRule[]
  /** Columns of `kubectl get` by title. Without any it shows the age; with some, add `Age: '.metadata.creationTimestamp'`. */
  readonly columns?: Readonly<Record<string, FieldPathText | Column>>
  /** Fields that `kubectl get --field-selector` and watches may select on. */
  readonly selectableFields?: readonly FieldPathText[]
  readonly scale?: Scale
  /** Keeps fields that the definition does not name, at the top of the object. @default false */
  readonly preserveUnknownFields?: boolean
}

/** What all versions of a resource share. */
export interface ResourceNames {
  /** A domain that you own, such as `homes.example.com`. */
  readonly group: string
  /** The name of the kind in CamelCase, such as `Home`. */
  readonly kind: string
  /** @default 'Namespaced' */
  readonly scope?: Scope
  /** The name in URLs and on the command line. @default a guess from the kind: `homes` */
  readonly plural?: string
  /** @default the kind in lower case */
  readonly singular?: string
  /** @default the kind followed by `List` */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  /** Groups of resources that the kind shows up in, such as `all`. */
  readonly categories?: readonly string[]
  /**
   * Whether the definition is somebody else's, so that installing the operator leaves it alone. It may then have what an API server
   * accepts but nobody means: a kind that is not in CamelCase, columns and scaling by fields that are not in the schema. @default false
   */
  readonly external?: boolean
  /** Labels and annotations of the CustomResourceDefinition itself. */
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** A resource with one version. */
export interface ResourceDefinition<V extends string, Sp extends AnySchema, St extends AnySchema, F extends Fields>
  extends ResourceNames,
    VersionDefinition<Sp, St, F> {
  /** `v1`, `v1beta1`, `v1alpha1` and the like. */
  readonly version: V
}

/** One of several versions of a resource. */
export interface OneOfVersions<Sp extends AnySchema, St extends AnySchema, F extends Fields>
  extends VersionDefinition<Sp, St, F> {
  /** Objects are stored in this version; exactly one has to say so. */
  readonly storage?: boolean
  /** Whether the API server offers the version. @default true */
  readonly served?: boolean
  /** Warns everybody who uses the version; a text replaces the server's own. @default false */
  readonly deprecated?: boolean | string
}

/** Any versions of a resource, by name. */
export type AnyVersions = Readonly<Record<string, OneOfVersions<AnySchema, AnySchema, Fields>>>

/** A resource with several versions. Each gets a Kind of its own; the resource itself is the Kind of the stored one. */
export interface MultiVersionDefinition<Vs extends AnyVersions> extends ResourceNames {
  readonly versions: Vs
}

// The schemas of the top-level fields that a definition names.
type TopFields<Sp, F> = ([Sp] extends [never] ? unknown : { readonly spec: Sp }) & F

// The mapped type makes editors show one object instead of an intersection.
type Flat<T> = { [K in keyof T]: T[K] } & unknown

/** What a read of a resource returns. */
export type ResourceRead<Sp, St, F> = Flat<
  KubeObject &
    DeepReadonly<
      (TopFields<Sp, F> extends infer T extends Fields ? ObjectOut<T> : unknown) &
        ([St] extends [never] ? unknown : { status?: St extends AnySchema ? Exclude<St['$out'], undefined> : never })
    >
>

/** What a write of a resource takes. */
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

/** The Kind of a resource with several versions: that of the stored version, with all of them in `versions`. */
export type MultiVersionKind<Vs extends AnyVersions> = KindOf<Vs[StorageKey<Vs>]> & {
  /** The Kind of every version by name. */
  readonly versions: { readonly [V in keyof Vs]: KindOf<Vs[V]> }
}
