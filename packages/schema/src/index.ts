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
export { compareUtf8, goFloat, goJson, goNumber, goQuote, goValue, isGoInteger } from './go-format.ts'
export type { JSONSchemaProps, ValidationRule } from './json-schema.ts'
