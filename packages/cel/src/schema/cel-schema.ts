/** The part of an OpenAPI v3 schema that CEL uses. Every JSON schema of a CRD is assignable to it. */
export interface CelSchema {
  /** The name of the type of an object in error messages. @default the path of the schema */
  readonly typeName?: string
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly items?: CelSchema
  readonly properties?: Readonly<Record<string, CelSchema>>
  readonly additionalProperties?: CelSchema | boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

const STRING: CelSchema = { type: 'string' }
const NAMES: CelSchema = { type: 'object', properties: { name: STRING, generateName: STRING } }

/** Adds `apiVersion`, `kind` and `metadata.name`/`generateName`, which the root of every resource has. */
export function withTypeAndObjectMeta(schema: CelSchema): CelSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {}
  if (
    kind?.type === 'string' &&
    apiVersion?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties?.['name']?.type === 'string' &&
    metadata.properties['generateName']?.type === 'string'
  ) {
    return schema
  }
  return { ...schema, properties: { ...schema.properties, kind: STRING, apiVersion: STRING, metadata: NAMES } }
}
