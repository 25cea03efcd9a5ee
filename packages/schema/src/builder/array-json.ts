import type { JSONSchemaProps } from '../model/json-schema.ts'
import type { Schema } from './schema.ts'
import { optionNames, validationJson } from './validation-json.ts'

/** The options of a list that are not plain keywords. ArrayOptions is the typed form. */
export interface ListSettings {
  readonly listType?: 'atomic' | 'set' | 'map' | undefined
  readonly keys?: readonly string[] | undefined
}

/**
 * Returns the schema of a list.
 * @throws TypeError for list types that the items do not support, with the API server's texts where it has one
 */
export function arrayJson(item: Schema<unknown, unknown>, options: ListSettings): JSONSchemaProps {
  const where = 's.array()'
  refuseOptional(item, where, 'item')
  const { listType, keys, ...rest } = options
  const json: JSONSchemaProps = { ...validationJson(rest, optionNames.array, where), type: 'array', items: item.json }
  if (listType === undefined) {
    if (keys !== undefined) fail("keys require listType: 'map'")
    return json
  }
  if (listType === 'map') checkKeys(item.json, keys)
  else if (keys !== undefined) fail(`keys require listType: 'map': current listType is '${listType}'`)
  if (listType !== 'atomic' && item.json.nullable) fail(`items cannot be nullable when listType is ${listType}`)
  if (listType === 'set') checkSetItem(item.json)
  const extensions = {
    'x-kubernetes-list-type': listType,
    ...(keys ? { 'x-kubernetes-list-map-keys': [...keys] } : {}),
  }
  return { ...json, ...extensions }
}

/** Throws if a schema is `.optional()` in a position that is not a field of an object. */
export function refuseOptional(schema: Schema<unknown, unknown>, where: string, what: string): void {
  if (schema.presence === 'optional') {
    throw new TypeError(
      `Cannot build ${where}: only a field of an object can be optional; drop .optional() from the ${what}`,
    )
  }
}

function fail(problem: string): never {
  throw new TypeError(`Cannot build s.array(): ${problem}`)
}

function checkSetItem(item: JSONSchemaProps): void {
  if (item.type === 'array' && (item['x-kubernetes-list-type'] ?? 'atomic') !== 'atomic') {
    fail("items of a set must be atomic; give the inner list listType: 'atomic'")
  }
  if (item.type === 'object' && item['x-kubernetes-map-type'] !== 'atomic') {
    fail("items of a set must be scalar or atomic; give the object mapType: 'atomic', or use listType: 'map' with keys")
  }
}

function checkKeys(item: JSONSchemaProps, keys: readonly string[] | undefined): void {
  if (keys === undefined || keys.length === 0) fail("listType: 'map' requires keys, the fields that identify an item")
  if (item.type !== 'object') fail("items must be objects if listType is 'map'")
  if (new Set(keys).size < keys.length) fail(`keys must not contain duplicate entries: ${keys.join(', ')}`)
  for (const key of keys) {
    const field =
      item.properties !== undefined && Object.hasOwn(item.properties, key) ? item.properties[key] : undefined
    if (field === undefined) fail(`key "${key}" is not a field of the item`)
    if (field.type === 'array' || field.type === 'object') fail(`key "${key}" must be a scalar field`)
    if (field.nullable) fail(`key "${key}" is in keys, so it cannot be nullable`)
    if (field.default === undefined && !item.required?.includes(key)) {
      fail(`key "${key}" is in keys, so it must have a default or be a required field; drop .optional()`)
    }
  }
}
