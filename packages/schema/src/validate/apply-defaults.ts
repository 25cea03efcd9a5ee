import { deepCopy } from '@kubewright/base'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'

/**
 * Fills in defaults in place: for absent fields, and for nulls that the schema does not allow.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go: defaults below a value apply only if the
 * value exists, possibly through a default.
 */
export function applyDefaults(value: unknown, node: StructuralNode): void {
  if (typeof value !== 'object' || value === null || !node.has('defaults')) return
  if (Array.isArray(value)) {
    const items = node.items
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null && !items.nullable && items.default !== undefined) value[i] = deepCopy(items.default)
      applyDefaults(value[i], items)
    }
    return
  }
  defaultObject(value as JsonObject, node)
}

function defaultObject(object: JsonObject, node: StructuralNode): void {
  const defaulted = node.defaulted
  for (let i = 0; i < defaulted.length; i++) {
    const [name, property] = defaulted[i] as readonly [string, StructuralNode]
    const current = Object.hasOwn(object, name) ? object[name] : undefined
    if (current === undefined || (current === null && !property.nullable))
      setField(object, name, deepCopy(property.default))
  }
  const properties = node.properties
  const additional = node.additional
  for (const name in object) {
    const property = properties?.get(name)
    if (property !== undefined) {
      applyDefaults(object[name], property)
    } else if (additional !== undefined) {
      if (object[name] === null && !additional.nullable && additional.default !== undefined) {
        setField(object, name, deepCopy(additional.default))
      }
      applyDefaults(object[name], additional)
    }
  }
}

/** Sets an own field, even `__proto__`, which an assignment would treat as the prototype. */
function setField(object: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[name] = value
  }
}

/**
 * Removes null fields in place if the schema neither allows null nor has a default.
 *
 * Nulls with a default stay for {@link applyDefaults}. Nulls in lists stay, and validation rejects them.
 */
export function dropNulls(value: unknown, node: StructuralNode): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const items = node.items
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) dropNulls(value[i], items)
    return
  }
  const object = value as JsonObject
  for (const name in object) {
    const field = node.field(name)
    if (field === undefined) continue
    if (object[name] === null) {
      if (!field.nullable && field.default === undefined) delete object[name]
    } else {
      dropNulls(object[name], field)
    }
  }
}
