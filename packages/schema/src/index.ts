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
export { type CheckStructuralOptions, checkStructural, unrecognizedFormats } from './check/check-structural.ts'
export { schemaJson } from './check/go-schema-json.ts'
export { checkSelectableFields, type SelectableFieldsOptions } from './check/selectable-fields.ts'
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
} from './field/field-error.ts'
export { FieldPath } from './field/field-path.ts'
export { goFloat, goJson, goNumber, goValue, isGoInteger } from './field/go-format.ts'
export { expressionSteps, limitValidation, spendSteps, ValidationLimitError } from './field/validation-steps.ts'
export { type DecodedMeta, decodeObjectMeta } from './meta/object-meta.ts'
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
} from './meta/object-meta-validation.ts'
export type { JSONSchemaProps, ValidationRule } from './model/json-schema.ts'
export { type LostField, lostFields } from './model/lost-fields.ts'
export { resolveSchemaPath, type SchemaPathOptions, type SchemaPathTarget } from './model/rule-field-path.ts'
export { structName } from './model/struct-name.ts'
export { normalSchema } from './source/normal-schema.ts'
export {
  commentToSource,
  dataToSource,
  type SchemaSourceOptions,
  type SourceOptions,
  schemaToSource,
} from './source/schema-to-source.ts'
export {
  type CompileSchemaOptions,
  compileSchema,
  StructuralSchema,
  type ValidateOptions,
} from './validate/compile-schema.ts'
export type { CoerceOptions, CoerceResult } from './validate/embedded-resources.ts'
