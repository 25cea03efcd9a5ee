export { goQuote } from '@kubewright/base'
export { type Condition, type ConditionDraft, conditionTypesOf } from './builder/condition.ts'
export type { EmbedOptions } from './builder/embed-schema.ts'
export type { JsonValue } from './builder/json-value.ts'
export type { Fields, ObjectIn, ObjectOptions, ObjectOut, OptionalField } from './builder/object-shape.ts'
export type { PathOf } from './builder/path-of.ts'
export { s } from './builder/s.ts'
export type {
  MayBeAbsent,
  Presence,
  RuleFieldPath,
  RuleOptions,
  Schema,
  SchemaIn,
  SchemaOut,
} from './builder/schema.ts'
export type { Element, EmbeddableKind, SchemaBuilder } from './builder/schema-builder.ts'
export type {
  AnyValidation,
  ArrayOptions,
  ArrayValidation,
  BooleanValidation,
  IntOptions,
  IntOrStringOptions,
  IntOrStringValidation,
  Junctors,
  ListKey,
  MapOptions,
  MapValidation,
  NumberOptions,
  NumberValidation,
  ObjectValidation,
  StringFormat,
  StringOptions,
  StringValidation,
  ValidationOf,
} from './builder/validation-options.ts'
export type {
  EmbeddedResource,
  IntOrString,
  KeySelector,
  KeySelectorDraft,
  LabelSelector,
  LabelSelectorRequirement,
  LocalObjectReference,
  ObjectReference,
} from './builder/well-known.ts'
export { schemaJson } from './check/go-schema-json.ts'
export { type CheckStructuralOptions, checkStructural, unrecognizedFormats } from './check-structural.ts'
export { type CompileSchemaOptions, compileSchema, StructuralSchema, type ValidateOptions } from './compile-schema.ts'
export {
  aggregateText,
  distinctErrors,
  duplicate,
  FieldError,
  type FieldErrorType,
  forbidden,
  internalError,
  invalid,
  notFound,
  notSupported,
  omitValue,
  RawValue,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from './field-error.ts'
export { FieldPath } from './field-path.ts'
export { goFloat, goJson, goNumber, goValue, isGoInteger } from './go-format.ts'
export type { CoerceOptions, CoerceResult } from './internal/embedded-resources.ts'
export type { JSONSchemaProps, ValidationRule } from './json-schema.ts'
export { type LostField, lostFields } from './lost-fields.ts'
export { type DecodedMeta, decodeObjectMeta } from './object-meta.ts'
export {
  fieldManagerMaxLength,
  type ObjectMetaOptions,
  validateAnnotations,
  validateFieldManager,
  validateFinalizers,
  validateLabels,
  validateManagedFields,
  validateObjectMeta,
  validateOwnerReferences,
} from './object-meta-validation.ts'
export { resolveSchemaPath, type SchemaPathOptions, type SchemaPathTarget } from './rule-field-path.ts'
export { checkSelectableFields, type SelectableFieldsOptions } from './selectable-fields.ts'
export { normalSchema } from './source/normal-schema.ts'
export {
  commentToSource,
  dataToSource,
  type SchemaSourceOptions,
  type SourceOptions,
  schemaToSource,
} from './source/schema-to-source.ts'
export { structName } from './struct-name.ts'
export { limitValidation, ValidationLimitError } from './validation-steps.ts'
