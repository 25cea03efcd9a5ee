import type { JSONSchemaProps } from '../json-schema.ts'
import { canonicalSchema, frozenJson } from './canonical-json.ts'
import { defaultMismatch } from './default-mismatch.ts'
import { ruleJson } from './rule-json.ts'
import type { Presence, RuleOptions, Schema } from './schema.ts'

/**
 * The only implementation of Schema. The type parameters exist in the interface only; at run time there is only JSON
 * and a presence.
 */
export class SchemaNode implements Schema<unknown, unknown> {
  declare readonly $out: unknown
  declare readonly $in: unknown
  readonly json: JSONSchemaProps
  readonly presence: Presence

  constructor(json: JSONSchemaProps, presence: Presence = 'required') {
    this.json = canonicalSchema(json)
    this.presence = presence
    Object.freeze(this)
  }

  optional(): SchemaNode {
    if (this.presence === 'defaulted') {
      throw new TypeError(
        'Cannot make a schema with a default optional: with a default, the field is optional to write and present to read; drop .optional()',
      )
    }
    return new SchemaNode(this.json, 'optional')
  }

  nullable(): SchemaNode {
    if (this.json.enum !== undefined) {
      // As in kube-openapi validation/validate/validator.go: null never equals an enum value, not even null.
      throw new TypeError(
        'Cannot make an enum nullable: the API server never accepts null for an enum; use .optional() instead',
      )
    }
    return this.#with({ nullable: true })
  }

  default(value: unknown): SchemaNode {
    if (value === undefined || value === null) {
      throw new TypeError(
        `Cannot set default: a CRD cannot have the default ${value}; drop .default() or use .optional()`,
      )
    }
    const problem = defaultMismatch(this.json, value)
    if (problem !== undefined) throw new TypeError(`Cannot set default ${JSON.stringify(value, bigints)}: ${problem}`)
    return new SchemaNode({ ...this.json, default: frozenJson(value) }, 'defaulted')
  }

  describe(text: string): SchemaNode {
    return this.#with({ description: text })
  }

  title(text: string): SchemaNode {
    return this.#with({ title: text })
  }

  example(value: unknown): SchemaNode {
    return this.#with({ example: frozenJson(value) })
  }

  rule(cel: string, message?: string | RuleOptions<unknown>): SchemaNode {
    const rules = this.json['x-kubernetes-validations'] ?? []
    return this.#with({ 'x-kubernetes-validations': [...rules, ruleJson(this.json, cel, message)] })
  }

  #with(keywords: JSONSchemaProps): SchemaNode {
    return new SchemaNode({ ...this.json, ...keywords }, this.presence)
  }
}

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
