import type { JSONSchemaProps } from '@kubewright/schema'

/** The schemas of a definition without fields, for each document that contains it. */
export interface OpaqueSchema {
  /** As a component of /openapi/v3. */
  readonly v3: JSONSchemaProps
  /** As a definition of /openapi/v2, if it differs. */
  readonly v2?: JSONSchemaProps | undefined
  /** In the schema of a kind: the published form plus semantics that it does not express. */
  readonly kind: JSONSchemaProps
}

const time: OpaqueSchema = {
  v3: { type: 'string', format: 'date-time' },
  kind: { type: 'string', format: 'date-time' },
}
const freeForm: OpaqueSchema = {
  v3: { type: 'object' },
  kind: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}
// Server-side apply treats an embedded value as atomic and accepts any JSON (schemaconv/smd.go), although the published
// schema states neither.
const embedded: OpaqueSchema = {
  v3: freeForm.v3,
  kind: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'atomic' },
}
const anything: OpaqueSchema = { v3: {}, kind: { 'x-kubernetes-preserve-unknown-fields': true } }

/**
 * Definitions whose Go types have custom marshalling, by local name: their published schema is not derived from fields.
 */
export const opaqueSchemas: Readonly<Record<string, OpaqueSchema>> = {
  Quantity: {
    v3: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    v2: { type: 'string' },
    kind: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  IntOrString: {
    v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
    v2: { type: 'string', format: 'int-or-string' },
    kind: { format: 'int-or-string', 'x-kubernetes-int-or-string': true },
  },
  Time: time,
  MicroTime: time,
  RawExtension: embedded,
  FieldsV1: freeForm,
  Patch: freeForm,
  JSON: anything,
  JSONSchemaPropsOrArray: anything,
  JSONSchemaPropsOrBool: anything,
  JSONSchemaPropsOrStringArray: anything,
}
