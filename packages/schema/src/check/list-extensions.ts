import { type FieldError, invalid, notSupported, RawValue, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { itemsList, propertyOf, singleItems } from '../model/schema-shape.ts'
import { itemsJson } from './go-schema-json.ts'

/** Checks `x-kubernetes-map-type`. */
export function checkMapExtension(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined || mapType === null) return
  requireType(schema, 'object', 'x-kubernetes-map-type', path, errors)
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  }
}

function requireType(
  schema: JSONSchemaProps,
  type: string,
  extension: string,
  path: FieldPath,
  errors: FieldError[],
): boolean {
  if (schema.type === type) return true
  const detail = `must be ${type} if ${extension} is specified`
  const at = path.child('type')
  errors.push((schema.type ?? '') === '' ? required(at, detail) : invalid(at, schema.type, detail))
  return false
}

/** Checks `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
export function checkListExtensions(
  schema: JSONSchemaProps,
  path: FieldPath,
  requireAtomicSets: boolean,
  errors: FieldError[],
): void {
  const listType = schema['x-kubernetes-list-type'] ?? undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const at = path.child('x-kubernetes-list-type')
  if (listType !== undefined && requireType(schema, 'array', 'x-kubernetes-list-type', path, errors)) {
    if (requireAtomicSets && listType === 'set') checkSetItems(schema, path, errors)
  }
  if (listType !== undefined && listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    errors.push(notSupported(at, listType, ['atomic', 'set', 'map']))
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail))
  }
  if (listType === 'map') checkMapList(schema, keys, path, errors)
}

/** Checks that the items of a set are atomic, because sets compare items as a whole. */
function checkSetItems(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const items = singleItems(schema)
  if (items === undefined) return
  if (!isNonAtomicSetItem(items)) return
  const keyword = items.type === 'array' ? 'x-kubernetes-list-type' : 'x-kubernetes-map-type'
  // In both cases, the API server's error contains the list type.
  const shown = items['x-kubernetes-list-type'] ?? null
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  errors.push(invalid(path.child('items', keyword), shown, detail))
}

/** Reports whether items with this schema can be merged partially, which is not allowed in sets. */
export function isNonAtomicSetItem(items: JSONSchemaProps): boolean {
  if (items.type === 'array') return (items['x-kubernetes-list-type'] ?? 'atomic') !== 'atomic'
  return items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic'
}

/** Checks that the items of a map list are objects, and that its keys are distinct scalar properties of the items. */
function checkMapList(schema: JSONSchemaProps, keys: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const at = path.child('items')
  const keysPath = path.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'))
  const items = singleItems(schema)
  if (items === undefined) {
    if (itemsList(schema).length === 0) {
      errors.push(required(at, 'must have a schema if x-kubernetes-list-type is map'))
    } else {
      const detail = 'must only have a single schema if x-kubernetes-list-type is map'
      errors.push(invalid(at, new RawValue(itemsJson(schema.items)), detail))
    }
    return
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalid(at.child('type'), items.type ?? '', detail))
    return
  }
  const seen = new Set<string>()
  for (const key of keys) {
    const property = propertyOf(items, key)
    if (property === undefined) {
      errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalid(at.child('properties').key(key).child('type'), items.type, detail))
    }
    if (seen.has(key)) errors.push(invalid(keysPath, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
}
