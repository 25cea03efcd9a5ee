import type { DurationText } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import type { Condition, ConditionDraft } from './condition.ts'
import type { EmbedOptions } from './embed-schema.ts'
import type { JsonValue } from './json-value.ts'
import type { Fields, ObjectIn, ObjectOptions, ObjectOut, OptionalField } from './object-shape.ts'
import type { MayBeAbsent, Schema } from './schema.ts'
import type {
  ArrayOptions,
  BooleanValidation,
  IntOptions,
  IntOrStringOptions,
  Junctors,
  MapOptions,
  NumberOptions,
  StringOptions,
} from './validation-options.ts'
import type {
  EmbeddedResource,
  IntOrString,
  KeySelector,
  KeySelectorDraft,
  LabelSelector,
  LocalObjectReference,
  ObjectReference,
} from './well-known.ts'

/**
 * A schema in a position that is not a field. Items and map values are always present, so `.optional()` is rejected;
 * the second half of the intersection is the text that the compiler then prints.
 */
export type Element<O, I> = Schema<O, I> &
  (MayBeAbsent<O> extends true ? 'only a field of an object can be optional' : unknown)

type ConditionType<Types extends readonly string[]> = Types extends readonly [] ? string : Types[number]

/** A kind whose objects can be embedded: any Kind of @kubewright/api. */
export interface EmbeddableKind<Read, Write> {
  readonly schema: JSONSchemaProps
  readonly $read: Read
  readonly $write: Write
}

// Functions whose type parameters would have defaults have overloads instead: inside the fields of an object, the
// defaults would not apply, because the compiler infers the parameters from the expected type.
/**
 * The functions of `s`. Constraints are options named after the OpenAPI keyword. Whatever changes the TypeScript type
 * is a method of the schema or a separate function. Only schemas that a CRD can express can be built; mistakes that the
 * types cannot catch throw at definition.
 */
export interface SchemaBuilder {
  /** A string. */
  string(options?: StringOptions): Schema<string>
  /** One of the given strings, or one of the given numbers. */
  enum<const V extends readonly [string, ...string[]] | readonly [number, ...number[]]>(...values: V): Schema<V[number]>
  /** One of the given strings, with further constraints. */
  enum<const V extends readonly [string, ...string[]]>(values: V, options?: StringOptions): Schema<V[number]>
  /** One of the given numbers, with further constraints. */
  enum<const V extends readonly [number, ...number[]]>(
    values: V,
    options?: IntOptions | NumberOptions,
  ): Schema<V[number]>
  /** Exactly this value. */
  literal<const V extends string | number | boolean>(value: V): Schema<V>
  /** A whole number. */
  int(options?: IntOptions): Schema<number>
  /**
   * A number, possibly fractional. Prefer integers or quantities: Kubernetes' conventions discourage floating point.
   */
  number(options?: NumberOptions): Schema<number>
  /** True or false. */
  bool(options?: Junctors<BooleanValidation>): Schema<boolean>
  /** A list. */
  array<O, I>(item: Element<O, I>, options?: ArrayOptions<NoInfer<O>>): Schema<O[], Exclude<I, undefined>[]>
  /** A map from any string to values of one schema. */
  map<O, I>(
    value: Element<O, I>,
    options?: MapOptions,
  ): Schema<Record<string, O>, Record<string, Exclude<I, undefined>>>
  /** An object with named fields. Unknown fields are pruned unless `preserveUnknownFields` is set. */
  object<F extends Fields, const One extends OptionalField<F> = never, const Open extends boolean = false>(
    fields: F,
    options?: ObjectOptions<F, One, Open>,
  ): Schema<ObjectOut<F, One, Open>, ObjectIn<F, One, Open>>
  /** An integer or a string (`intstr.IntOrString`). */
  intOrString(options?: IntOrStringOptions): Schema<IntOrString>
  /** Any JSON value (`apiextensionsv1.JSON`), kept unchanged. */
  json(): Schema<JsonValue>
  /** A complete Kubernetes object with apiVersion, kind and metadata. Other fields are kept unchanged. */
  embeddedResource(): Schema<EmbeddedResource>
  /** A complete Kubernetes object of a known type. */
  embeddedResource<T extends { apiVersion: string; kind: string }>(): Schema<T>

  /** An amount such as `500m` or `1Gi` (`resource.Quantity`). */
  quantity(): Schema<IntOrString>
  /** A point in time in RFC 3339 (`metav1.Time`). */
  time(): Schema<string>
  /** A point in time in RFC 3339 with microseconds (`metav1.MicroTime`). */
  microTime(): Schema<string>
  /**
   * A duration such as `1h30m`. In CEL rules it is a duration, not a string. Values that were read can be used as a
   * `requeueAfter`.
   */
  duration(): Schema<DurationText, string>
  /** Bytes in base64. */
  bytes(): Schema<string>

  /**
   * The conventional list of status conditions. `types` are the condition types that this API declares. The CRD accepts
   * others too, because other controllers may add theirs.
   */
  conditions<const Types extends readonly string[]>(
    ...types: Types
  ): Schema<Condition<ConditionType<Types>>[], ConditionDraft<ConditionType<Types>>[]>
  /** A query over labels (`metav1.LabelSelector`). */
  labelSelector(): Schema<LabelSelector>
  /** A reference to any object (`corev1.ObjectReference`). */
  objectReference(): Schema<ObjectReference>
  /** A reference to an object in the same namespace (`corev1.LocalObjectReference`). */
  localObjectReference(): Schema<LocalObjectReference, Partial<LocalObjectReference>>
  /** A key of a Secret in the same namespace (`corev1.SecretKeySelector`). */
  secretKeySelector(): Schema<KeySelector, KeySelectorDraft>
  /** A key of a ConfigMap in the same namespace (`corev1.ConfigMapKeySelector`). */
  configMapKeySelector(): Schema<KeySelector, KeySelectorDraft>

  /** A complete object of a kind, described by the schema of the kind. */
  from<Read, Write>(kind: EmbeddableKind<Read, Write>): Schema<Read, Write>
  /**
   * A built-in type such as PodTemplateSpec in structural form: references are resolved, patch hints are dropped,
   * int-or-string and quantities have the form of controller-gen, and embedded object metadata is reduced to the fields
   * that a template may have. Enums of built-in types are dropped, as controller-gen does: the API accepts "" for many of
   * them. A list map whose keys may be absent becomes an atomic list, because a CRD cannot express it.
   * @example s.from(schemaOf('io.k8s.api.core.v1.PodTemplateSpec')) // with schemaOf of @kubewright/k8s/schemas
   */
  from<Out>(schema: JSONSchemaProps & { readonly $type?: Out | undefined }, options?: EmbedOptions): Schema<Out>
  /** A built-in type that has different types for reading and writing. */
  from<Out, In>(schema: JSONSchemaProps & { readonly $type?: Out | undefined }, options?: EmbedOptions): Schema<Out, In>
  /**
   * An escape hatch: any structural schema, unchanged. The caller is responsible for the types (any JSON if none are
   * given). Call `.default()` instead of including a default.
   */
  raw(schema: JSONSchemaProps): Schema<JsonValue>
  /** A structural schema with the type for reading and writing. */
  raw<Out>(schema: JSONSchemaProps): Schema<Out>
  /** A structural schema with different types for reading and writing. */
  raw<Out, In>(schema: JSONSchemaProps): Schema<Out, In>
}
