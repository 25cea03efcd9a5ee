import { CaughtError, isJsonObject, textOf } from '@kubewright/base'
import type { RestClient } from '@kubewright/client'
import type { FormSchema } from '../wire/form-schema.ts'
import type { KindInfo } from '../wire/names.ts'
import { type Json, listAt, objectAt } from './json.ts'

// Pod templates need 9 levels; schemas that contain themselves end here.
const maxDepth = 10
const refPrefix = '#/components/schemas/'

/** Reads the schema of a kind's fields without its type, metadata and status. Throws if the server publishes none. */
export async function readFormSchema(kind: KindInfo, rest: RestClient): Promise<FormSchema> {
  const { group, version } = kind
  const path = `/openapi/v3/${group === '' ? 'api' : `apis/${group}`}/${version}`
  const schemas = objectAt(objectAt(await rest.json({ method: 'GET', path }), 'components'), 'schemas')
  const found = Object.values(schemas).find((schema) => isSchemaOf(schema, kind))
  if (!isJsonObject(found))
    throw new CaughtError(`The API server publishes no schema of ${kind.kind}: edit the YAML instead`)
  const { properties = {}, required, ...described } = formSchema(found, schemas, 0)
  const own = Object.entries(properties).filter(([name]) => !outside.has(name))
  return { ...described, properties: Object.fromEntries(own), required: required?.filter((name) => !outside.has(name)) }
}

/** Fields that the user does not fill in. */
const outside = new Set(['apiVersion', 'kind', 'metadata', 'status'])

function isSchemaOf(schema: unknown, { group, version, kind }: KindInfo): boolean {
  return listAt(schema, 'x-kubernetes-group-version-kind').some(
    (one) => one['group'] === group && one['version'] === version && one['kind'] === kind,
  )
}

function formSchema(given: Json, schemas: Json, depth: number): FormSchema {
  const schema = resolved(given, schemas)
  const values = schema['enum']
  const common = {
    description: textOf(given['description']) || textOf(schema['description']) || undefined,
    default: given['default'] === undefined ? undefined : JSON.stringify(given['default']),
    choices: Array.isArray(values) ? values.filter((one) => typeof one === 'string') : undefined,
    minimum: numberAt(schema, 'minimum'),
    maximum: numberAt(schema, 'maximum'),
  }
  if (schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string')
    return { ...common, type: 'other' }
  const inner = (field: string): FormSchema => formSchema(objectAt(schema, field), schemas, depth + 1)
  switch (schema['type']) {
    case 'string':
      return { ...common, type: 'text' }
    case 'integer':
    case 'number':
    case 'boolean':
      return { ...common, type: schema['type'] }
    case 'array':
      return depth >= maxDepth ? { ...common, type: 'other' } : { ...common, type: 'list', items: inner('items') }
    case 'object': {
      const properties = Object.entries(objectAt(schema, 'properties'))
      if (depth >= maxDepth) break
      if (properties.length > 0) {
        const required = schema['required']
        return {
          ...common,
          type: 'object',
          properties: Object.fromEntries(
            properties.map(([name, one]) => [name, formSchema(isJsonObject(one) ? one : {}, schemas, depth + 1)]),
          ),
          required: Array.isArray(required) ? required.map(textOf) : [],
        }
      }
      if (isJsonObject(schema['additionalProperties']))
        return { ...common, type: 'map', items: inner('additionalProperties') }
    }
  }
  return { ...common, type: 'other' }
}

/** Follows a reference. Built-in schemas wrap theirs in allOf to add a description. */
function resolved(schema: Json, schemas: Json): Json {
  const [wrapped] = listAt(schema, 'allOf')
  const reference = textOf(schema['$ref']) || textOf(wrapped?.['$ref'])
  return reference.startsWith(refPrefix) ? objectAt(schemas, reference.slice(refPrefix.length)) : schema
}

function numberAt(schema: Json, field: string): number | undefined {
  const value = schema[field]
  return typeof value === 'number' ? value : undefined
}
