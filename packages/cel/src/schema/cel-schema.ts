/** The part of an OpenAPI v3 schema that CEL uses. Every JSON schema of a CRD is assignable to it. */
export interface CelSchema {
  /** The name of the type of an object in error messages. @default the path of the schema */
  readonly typeName?: string | undefined
  readonly type?: string | undefined
  readonly format?: string | undefined
  readonly nullable?: boolean | undefined
  readonly default?: unknown
  readonly enum?: readonly unknown[] | undefined
  readonly maxLength?: number | undefined
  readonly maxItems?: number | undefined
  readonly maxProperties?: number | undefined
  readonly required?: readonly string[] | undefined
  readonly items?: CelSchema | undefined
  readonly properties?: Readonly<Record<string, CelSchema>> | undefined
  readonly additionalProperties?: CelSchema | boolean | undefined
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined
  readonly 'x-kubernetes-list-type'?: string | undefined
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined
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
