import { formatRFC3339, instantFromMillis, type Random, uuid } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { PatternSampler } from './pattern-sampler.ts'

const maxDepth = 8
const words = ['a', 'blue', 'cosy-home', 'x.example.com', 'nginx:1.27', '7', 'Ünïcode', '']

/**
 * Generates values of a schema. Respects types, bounds, formats, patterns and required fields. Ignores CEL rules and
 * junctors (allOf, anyOf, not), so the caller must validate the result. The same random stream generates the same
 * values.
 */
export class ValueGenerator {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  value(schema: JSONSchemaProps, depth = 0): unknown {
    if (schema.nullable && this.#chance(0.1)) return null
    if (schema.enum && schema.enum.length > 0) return this.#random.pick(schema.enum)
    if (schema.default !== undefined && this.#chance(0.2)) return structuredClone(schema.default)
    if (schema['x-kubernetes-int-or-string'])
      return this.#chance(0.5) ? this.#random.int(100) : `${this.#random.int(100)}%`
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, depth)
      case 'string':
        return this.#string(schema)
      case 'integer':
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return this.#chance(0.5)
      default:
        // A schema without a type accepts any value.
        return this.#random.pick<unknown>([true, 3, 'text', { key: 'value' }, ['item']])
    }
  }

  #object(schema: JSONSchemaProps, depth: number): Record<string, unknown> {
    const { properties = {}, additionalProperties, required = [], minProperties = 0, maxProperties = 3 } = schema
    const object: Record<string, unknown> = {}
    if (schema['x-kubernetes-embedded-resource']) {
      Object.assign(object, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'embedded' } })
    }
    for (const [name, property] of Object.entries(properties)) {
      const present = required.includes(name) || (depth < maxDepth && this.#chance(0.6))
      if (present && !(name in object)) object[name] = this.value(property, depth + 1)
    }
    if (additionalProperties !== undefined && additionalProperties !== false) {
      const items = additionalProperties === true ? {} : additionalProperties
      const most = depth < maxDepth ? Math.max(minProperties, Math.min(3, maxProperties)) : minProperties
      const count = minProperties + this.#random.int(most - minProperties + 1)
      for (let i = 0; i < count; i++) object[`key-${i}${this.#random.int(10)}`] = this.value(items, depth + 1)
    }
    return object
  }

  #array(schema: JSONSchemaProps, depth: number): unknown[] {
    const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
    const most = depth < maxDepth ? Math.max(minItems, Math.min(maxItems, minItems + 3)) : minItems
    const count = minItems + this.#random.int(most - minItems + 1)
    const list = Array.from({ length: count }, () => this.value(items, depth + 1))
    const keys = schema['x-kubernetes-list-map-keys'] ?? []
    const distinct = schema.uniqueItems || schema['x-kubernetes-list-type'] === 'set' || keys.length > 0
    if (!distinct) return list
    const seen = new Set<string>()
    return list.filter((item) => {
      const id = JSON.stringify(keys.length === 0 ? item : keys.map((key) => (item as Record<string, unknown>)[key]))
      return !seen.has(id) && seen.add(id)
    })
  }

  #number({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, type, format }: JSONSchemaProps): number {
    const whole = type === 'integer'
    const step = multipleOf ?? (whole ? 1 : 0.5)
    let low = minimum ?? Math.min(-10, (maximum ?? 0) - 10)
    let high = maximum ?? Math.max(100, low + 100)
    if (format === 'int32') high = Math.min(high, 2 ** 31 - 1)
    if (exclusiveMinimum) low += step
    if (exclusiveMaximum) high -= step
    const first = Math.ceil(low / step)
    const last = Math.max(first, Math.floor(high / step))
    // Boundary values reveal most mistakes.
    const pick = this.#chance(0.3) ? this.#random.pick([first, last]) : first + this.#random.int(last - first + 1)
    return pick * step
  }

  #string(schema: JSONSchemaProps): string {
    const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
    if (pattern !== undefined) return new PatternSampler(pattern, this.#random).sample()
    const formatted = format === undefined ? undefined : this.#formatted(format)
    if (formatted !== undefined) return formatted
    let text = this.#random.pick(words)
    while ([...text].length < minLength) text += this.#random.pick([...'abcdefghij'])
    return [...text].slice(0, Math.min(maxLength, 1000)).join('')
  }

  #formatted(format: string): string | undefined {
    const number = (): number => this.#random.int(250)
    switch (format.replaceAll('-', '').toLowerCase()) {
      case 'datetime':
        return formatRFC3339(instantFromMillis(this.#random.int(2_000_000_000) * 1000))
      case 'date':
        return formatRFC3339(instantFromMillis(this.#random.int(2_000_000_000) * 1000)).slice(0, 10)
      case 'duration':
        return `${number()}s`
      case 'hostname':
        return `host-${number()}.example.com`
      case 'email':
        return `user${number()}@example.com`
      case 'ipv4':
        return `10.${number()}.${number()}.${number()}`
      case 'ipv6':
        return `fd00::${number().toString(16)}`
      case 'cidr':
        return `10.${number()}.0.0/16`
      case 'mac':
        return '00:00:5e:00:53:01'
      case 'uri':
        return `https://example.com/${number()}`
      case 'uuid':
      case 'uuid4':
        return uuid(this.#random)
      case 'byte':
        return Buffer.from(`bytes ${number()}`).toString('base64')
      default:
        return undefined
    }
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability
  }
}
