import { deepCopy, deepEqual } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { Resource } from '../resource/resource.ts'
import { definitionName, metaDefinition } from './definition-name.ts'

/** A schema in an OpenAPI document. */
export type PublishedSchema = Record<string, unknown>

/** The OpenAPI version of a document. Version 2 supports fewer keywords. */
export type OpenApiVersion = 'v2' | 'v3'

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'
// The descriptions that kube-apiserver adds to the schema of every custom resource; `kubectl explain` shows them.
const apiVersion = {
  description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  type: 'string',
}
const kind = {
  description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
  type: 'string',
}
const embeddedApiVersion = {
  ...apiVersion,
  description: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
}
const embeddedKind = {
  ...kind,
  description: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
}
const objectMetadata = `Standard object's metadata. More info: ${conventions}#metadata`
const listMetadata = `Standard list metadata. More info: ${conventions}#types-kinds`

/** The definitions of a custom resource and its list, by name. */
export function customDefinitions(resource: Resource, version: OpenApiVersion): Map<string, PublishedSchema> {
  const { group, version: apiVersionName, kind: kindName, listKind, plural } = resource.kind
  const name = definitionName(resource.kind, 'custom')
  const listName = definitionName({ ...resource.kind, kind: listKind }, 'custom')
  const gvk = (shown: string): unknown => [{ group, version: apiVersionName, kind: shown }]
  const list: PublishedSchema = {
    description: `${listKind} is a list of ${kindName}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion,
      items: {
        description: `List of ${plural}. More info: ${conventions}`,
        type: 'array',
        items: { $ref: refOf(name, version) },
      },
      kind,
      metadata: described(metaDefinition('ListMeta'), listMetadata, version),
    },
    'x-kubernetes-group-version-kind': gvk(listKind),
  }
  const object = objectSchema(resource.kind.schema, version)
  object['x-kubernetes-group-version-kind'] = gvk(kindName)
  const selectable = Object.keys(resource.selectors.fields).map((fieldPath) => ({ fieldPath }))
  if (selectable.length > 0) {
    for (const schema of [object, list]) schema['x-kubernetes-selectable-fields'] = selectable
  }
  return new Map([
    [name, object],
    [listName, list],
  ])
}

/** A reference to a definition. */
export function refOf(name: string, version: OpenApiVersion): string {
  return version === 'v2' ? `#/definitions/${name}` : `#/components/schemas/${name}`
}

function objectSchema(schema: JSONSchemaProps, version: OpenApiVersion): PublishedSchema {
  const given = schema as PublishedSchema
  if (version === 'v2' && given['x-kubernetes-preserve-unknown-fields'] === true) return { type: 'object' }
  if (given['type'] === undefined && given['properties'] === undefined) return { type: 'object' }
  const published = publish(deepCopy(given) as PublishedSchema, version)
  published['properties'] = {
    ...(published['properties'] as object | undefined),
    apiVersion,
    kind,
    metadata: described(metaDefinition('ObjectMeta'), objectMetadata, version),
  }
  return published
}

/** Version 3 wraps a reference in allOf, because it ignores keywords beside $ref; version 2 does not need that. */
function described(definition: string, description: string, version: OpenApiVersion): PublishedSchema {
  const $ref = refOf(definition, version)
  return version === 'v2' ? { description, $ref } : { description, allOf: [{ $ref }] }
}

/** Converts a structural schema in place to a published one. */
function publish(schema: PublishedSchema, version: OpenApiVersion): PublishedSchema {
  for (const dropped of ['$schema', 'id', 'example', 'externalDocs']) delete schema[dropped]
  if (schema['x-kubernetes-int-or-string'] === true) unfoldIntOrString(schema)
  if (version === 'v2') simplify(schema)
  const properties = schema['properties'] as Record<string, PublishedSchema> | undefined
  for (const property of Object.values(properties ?? {})) publish(property, version)
  for (const nested of ['items', 'additionalProperties']) {
    const value = schema[nested]
    if (typeof value === 'object' && value !== null) publish(value as PublishedSchema, version)
  }
  if (schema['x-kubernetes-embedded-resource'] === true) embed(schema, version)
  return schema
}

/** Replaces x-kubernetes-int-or-string by an equivalent anyOf unless the schema has one (apiserver/schema/unfold.go). */
function unfoldIntOrString(schema: PublishedSchema): void {
  const types = [{ type: 'integer' }, { type: 'string' }]
  const allOf = schema['allOf'] as PublishedSchema[] | undefined
  if (deepEqual(schema['anyOf'], types) || deepEqual(allOf?.[0]?.['anyOf'], types)) return
  if (schema['anyOf']) schema['allOf'] = [{ anyOf: types }, ...(allOf ?? [])]
  else schema['anyOf'] = types
}

/** Removes keywords that version 2 lacks or that its clients misinterpret (controller/openapi/v2/conversion.go). */
function simplify(schema: PublishedSchema): void {
  for (const unsaid of ['allOf', 'anyOf', 'oneOf', 'not', 'default']) delete schema[unsaid]
  const required = schema['required'] as string[] | undefined
  const properties = schema['properties'] as Record<string, PublishedSchema> | undefined
  if (required && properties) {
    const kept = required.filter((name) => properties[name]?.['nullable'] !== true)
    if (kept.length > 0) schema['required'] = kept
    else delete schema['required']
  }
  const values = schema['additionalProperties'] as PublishedSchema | boolean | undefined
  if (typeof values === 'object' && values['nullable'] === true) delete schema['required']
  const anything = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (schema['nullable'] === true) delete schema['type']
  if (schema['nullable'] === true || anything) {
    delete schema['items']
    delete schema['properties']
  }
  delete schema['nullable']
  if (schema['type'] === 'array' && schema['items'] === undefined) delete schema['type']
  if (anything && schema['type'] === 'object') delete schema['type']
}

/** Adds the standard fields of objects to an embedded resource. */
function embed(schema: PublishedSchema, version: OpenApiVersion): void {
  if (version === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true) return
  schema['properties'] = {
    ...(schema['properties'] as object | undefined),
    apiVersion: embeddedApiVersion,
    kind: embeddedKind,
    metadata: described(metaDefinition('ObjectMeta'), objectMetadata, version),
  }
  const required = (schema['required'] as string[] | undefined) ?? []
  schema['required'] = [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))]
}
