import type { JSONSchemaProps } from '@kubewright/schema'

/** The ways in which a definition without fields is written, depending on who reads it. */
export interface OpaqueSchema {
  /** As a component of /openapi/v3. */
  readonly v3: JSONSchemaProps
  /** As a definition of /openapi/v2, where it differs. */
  readonly v2?: JSONSchemaProps
  /** In the schema of a kind: the published form, plus what a reader cannot see from it. */
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
// Apply owns and replaces an embedded object as a whole (schemaconv/smd.go), although nothing published says so.
const embedded: OpaqueSchema = { v3: freeForm.v3, kind: { ...freeForm.kind, 'x-kubernetes-map-type': 'atomic' } }
const anything: OpaqueSchema = { v3: {}, kind: { 'x-kubernetes-preserve-unknown-fields': true } }

/** Definitions whose Go types marshal themselves, by local name: their published schema does not come from fields. */
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
