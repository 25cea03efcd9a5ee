export type { JSONSchemaProps, ValidationRule } from './json-schema.ts'
