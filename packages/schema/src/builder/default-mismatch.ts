import type { JSONSchemaProps } from '../model/json-schema.ts'

/**
 * Returns how a default contradicts its schema, or `undefined` if it does not. Checks types, enums, bounds, required
 * and unknown fields. Patterns, formats, combinations and CEL rules need a full validator and are left to the check of
 * the CRD. Nested defaults count as present, because the API server applies them to the default itself.
 */
export function defaultMismatch(schema: JSONSchemaProps, value: unknown, path = 'default'): string | undefined {
  if (value === null) return schema.nullable === true || isOpen(schema) ? undefined : `${path} must not be null`
  if (schema['x-kubernetes-int-or-string'] === true) {
    return typeof value === 'string' || isInteger(value) ? undefined : `${path} must be an integer or a string`
  }
  return typeMismatch(schema, value, path) ?? enumMismatch(schema, value, path)
}

const isOpen = (schema: JSONSchemaProps): boolean =>
  schema.type === undefined && schema['x-kubernetes-preserve-unknown-fields'] === true
const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isInteger(value)

function enumMismatch(schema: JSONSchemaProps, value: unknown, path: string): string | undefined {
  if (schema.enum === undefined || typeof value === 'object' || schema.enum.includes(value)) return undefined
  return `${path} must be one of ${schema.enum.map((each) => JSON.stringify(each)).join(', ')}`
}

function typeMismatch(schema: JSONSchemaProps, value: unknown, path: string): string | undefined {
  switch (schema.type) {
    case 'string':
      return typeof value === 'string'
        ? sizeMismatch(schema, [...value].length, 'Length', path)
        : `${path} must be a string`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${path} must be a boolean`
    case 'integer':
      return isInteger(value) ? boundMismatch(schema, value as number, path) : `${path} must be an integer`
    case 'number':
      return Number.isFinite(value) || typeof value === 'bigint'
        ? boundMismatch(schema, value as number, path)
        : `${path} must be a finite number`
    case 'array':
      return Array.isArray(value) ? itemsMismatch(schema, value, path) : `${path} must be a list`
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
        ? fieldsMismatch(schema, value as object, path)
        : `${path} must be an object`
    default:
      return undefined
  }
}

function boundMismatch(schema: JSONSchemaProps, value: number, path: string): string | undefined {
  const { minimum, maximum } = schema
  if (minimum !== undefined && (value < minimum || (schema.exclusiveMinimum === true && value === minimum))) {
    return `${path} must not be below the minimum ${minimum}`
  }
  if (maximum !== undefined && (value > maximum || (schema.exclusiveMaximum === true && value === maximum))) {
    return `${path} must not be above the maximum ${maximum}`
  }
  return undefined
}

function sizeMismatch(
  schema: JSONSchemaProps,
  size: number,
  what: 'Length' | 'Items' | 'Properties',
  path: string,
): string | undefined {
  const [least, most] = [schema[`min${what}`], schema[`max${what}`]]
  if (least !== undefined && size < least) return `${path} is smaller than min${what} ${least}`
  if (most !== undefined && size > most) return `${path} is larger than max${what} ${most}`
  return undefined
}

function itemsMismatch(schema: JSONSchemaProps, value: readonly unknown[], path: string): string | undefined {
  for (const [index, item] of value.entries()) {
    const problem = schema.items && defaultMismatch(schema.items, item, `${path}[${index}]`)
    if (problem !== undefined) return problem
  }
  return sizeMismatch(schema, value.length, 'Items', path)
}

function fieldsMismatch(schema: JSONSchemaProps, value: object, path: string): string | undefined {
  const fields: Readonly<Record<string, JSONSchemaProps>> = schema.properties ?? {}
  // Null counts as absent where it is not allowed: the API server drops it before validation.
  const present = new Map(Object.entries(value).filter(([, member]) => member !== undefined && member !== null))
  for (const [name, member] of present) {
    const extra = schema.additionalProperties
    const field = Object.hasOwn(fields, name) ? fields[name] : typeof extra === 'object' ? extra : undefined
    if (field !== undefined) {
      const problem = defaultMismatch(field, member, `${path}.${name}`)
      if (problem !== undefined) return problem
    } else if (
      extra !== true &&
      schema['x-kubernetes-preserve-unknown-fields'] !== true &&
      !isResourceField(schema, name)
    ) {
      return `${path}.${name} is not a field of the schema`
    }
  }
  const filled = Object.keys(fields).filter((name) => !present.has(name) && fields[name]?.default !== undefined)
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name) && !filled.includes(name)) return `${path}.${name} is missing, but required`
  }
  return sizeMismatch(schema, Object.keys(value).length + filled.length, 'Properties', path)
}

const isResourceField = (schema: JSONSchemaProps, name: string): boolean =>
  schema['x-kubernetes-embedded-resource'] === true && ['apiVersion', 'kind', 'metadata'].includes(name)
