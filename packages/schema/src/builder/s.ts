import type { DurationText } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { arrayJson, type ListSettings, refuseOptional } from './array-json.ts'
import { conditionsJson, declareConditionTypes } from './condition.ts'
import { type EmbedOptions, embedResource, embedSchema } from './embed-schema.ts'
import { type ObjectSettings, objectJson } from './object-json.ts'
import type { Fields } from './object-shape.ts'
import type { Schema } from './schema.ts'
import type { SchemaBuilder } from './schema-builder.ts'
import { SchemaNode } from './schema-node.ts'
import { optionNames, validationJson } from './validation-json.ts'
import type { IntOptions, IntOrStringOptions, MapOptions, NumberOptions, StringOptions } from './validation-options.ts'
import {
  intOrStringJson,
  keySelectorJson,
  labelSelectorJson,
  localObjectReferenceJson,
  objectReferenceJson,
  quantityJson,
} from './well-known.ts'

// Out and In exist for the compiler only. SchemaBuilder declares the types that the JSON represents.
const node = <Out, In = Out>(json: JSONSchemaProps): Schema<Out, In> =>
  new SchemaNode(json) as unknown as Schema<Out, In>

const stringJson = (options: object, where: string): JSONSchemaProps => ({
  ...validationJson(options, optionNames.string, where),
  type: 'string',
})
const numberJson = (type: 'integer' | 'number', options: object, where: string): JSONSchemaProps => ({
  ...validationJson(options, optionNames.number, where),
  type,
})

function enumJson(values: readonly (string | number)[], options: object): JSONSchemaProps {
  const where = 's.enum()'
  if (values.length === 0) throw new TypeError(`Cannot build ${where}: it needs at least one value`)
  if (new Set(values).size < values.length) throw new TypeError(`Cannot build ${where}: values must be unique`)
  const kinds = new Set(values.map((value) => typeof value))
  if (kinds.size > 1) throw new TypeError(`Cannot build ${where}: values must be all strings or all numbers`)
  if (kinds.has('string')) return { ...stringJson(options, where), enum: [...values] }
  return { ...numberJson(values.every(Number.isInteger) ? 'integer' : 'number', options, where), enum: [...values] }
}

function literalJson(value: string | number | boolean): JSONSchemaProps {
  return typeof value === 'boolean' ? { type: 'boolean', enum: [value] } : enumJson([value], {})
}

// The arms that make the value an integer or a string keep their position. Other arms move below allOf, the second
// structural form.
function intOrStringWith(options: IntOrStringOptions): JSONSchemaProps {
  const json = validationJson(options, optionNames.intOrString, 's.intOrString()')
  if (json.anyOf === undefined) return { ...json, ...intOrStringJson }
  const { anyOf, allOf = [], ...rest } = json
  return {
    ...rest,
    allOf: [{ anyOf: intOrStringJson.anyOf! }, { anyOf }, ...allOf],
    'x-kubernetes-int-or-string': true,
  }
}

function rawJson(schema: JSONSchemaProps): JSONSchemaProps {
  if (schema.default !== undefined) {
    throw new TypeError(
      'Cannot build s.raw(): remove default from the schema and call .default() instead, so that the types include it',
    )
  }
  return schema
}

// The overloads of enum and from cannot be methods of an object literal that the compiler matches one by one.
const overloaded = {
  enum: (first: string | number | readonly (string | number)[], ...rest: unknown[]): Schema<unknown> =>
    Array.isArray(first)
      ? node(enumJson(first, rest[0] ?? {}))
      : node(enumJson([first as string, ...(rest as string[])], {})),
  from: (source: JSONSchemaProps | { readonly schema: JSONSchemaProps }, options?: EmbedOptions): Schema<unknown> =>
    node('schema' in source ? embedResource(source.schema) : embedSchema(source as JSONSchemaProps, options)),
}

/**
 * The schema builder: describes the fields of a custom resource once, for the CRD, for TypeScript and for run-time
 * checks.
 * @example
 * const spec = s.object({
 *   image: s.string({ minLength: 1 }).describe('Container image to serve.'),
 *   replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
 *   domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
 * })
 */
export const s: SchemaBuilder = Object.freeze({
  string: (options: StringOptions = {}) => node<string>(stringJson(options, 's.string()')),
  enum: overloaded.enum as SchemaBuilder['enum'],
  literal: <V extends string | number | boolean>(value: V) => node<V>(literalJson(value)),
  int: (options: IntOptions = {}) => node<number>(numberJson('integer', options, 's.int()')),
  number: (options: NumberOptions = {}) => node<number>(numberJson('number', options, 's.number()')),
  bool: (options = {}) => node<boolean>({ ...validationJson(options, optionNames.bool, 's.bool()'), type: 'boolean' }),
  array: (item: Schema<unknown, unknown>, options: ListSettings = {}) => node<never>(arrayJson(item, options)),
  map: (value: Schema<unknown, unknown>, options: MapOptions = {}) => node<never>(mapJson(value, options)),
  object: (fields: Fields, options: ObjectSettings = {}) => node<never>(objectJson(fields, options)),
  intOrString: (options = {}) => node(intOrStringWith(options)),
  json: () => node({ 'x-kubernetes-preserve-unknown-fields': true }),
  embeddedResource: () =>
    node<never>({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    }),
  quantity: () => node(quantityJson),
  time: () => node({ type: 'string', format: 'date-time' }),
  microTime: () => node({ type: 'string', format: 'date-time' }),
  duration: () => node<DurationText, string>({ type: 'string', format: 'duration' }),
  bytes: () => node({ type: 'string', format: 'byte' }),
  conditions: (...types: readonly string[]) => {
    const conditions = node<never>(conditionsJson)
    declareConditionTypes(conditions.json, types)
    return conditions
  },
  labelSelector: () => node(labelSelectorJson),
  objectReference: () => node(objectReferenceJson),
  localObjectReference: () => node(localObjectReferenceJson),
  secretKeySelector: () => node(keySelectorJson('Secret')),
  configMapKeySelector: () => node(keySelectorJson('ConfigMap')),
  from: overloaded.from as SchemaBuilder['from'],
  raw: (schema: JSONSchemaProps) => node<never>(rawJson(schema)),
} satisfies SchemaBuilder)

function mapJson(value: Schema<unknown, unknown>, options: MapOptions): JSONSchemaProps {
  refuseOptional(value, 's.map()', 'value')
  const { mapType, ...rest } = options
  return {
    ...validationJson(rest, optionNames.map, 's.map()'),
    type: 'object',
    additionalProperties: value.json,
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  }
}
