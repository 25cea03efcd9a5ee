import { deepCopy } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { compileSchema } from '../validate/compile-schema.ts'
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
    const json = { ...this.json, default: frozenJson(value) }
    checkRulesOfDefault(json)
    return new SchemaNode(json, 'defaulted')
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
    const added = { 'x-kubernetes-validations': [...rules, ruleJson(this.json, cel, message)] }
    checkRulesOfDefault({ ...this.json, ...added })
    return this.#with(added)
  }

  #with(keywords: JSONSchemaProps): SchemaNode {
    return new SchemaNode({ ...this.json, ...keywords }, this.presence)
  }
}

/**
 * Throws if a default, completed by the defaults in it, violates a CEL rule: the API server would reject the CRD. Rules that do not compile
 * are left to the check of the CRD.
 */
function checkRulesOfDefault(json: JSONSchemaProps): void {
  if (json.default === undefined || !hasRules(json)) return
  const schema = compileSchema(json, { resource: false })
  const value = deepCopy(json.default)
  schema.default(value)
  const [problem] = schema.validate(value).filter(({ detail }) => !/^rule compile/.test(detail))
  if (problem === undefined) return
  throw new TypeError(
    `Cannot set default ${JSON.stringify(json.default, bigints)}: a rule rejects it (${problem.detail}); include the fields that the rule needs in the default, guard them with has() in the rule, or use .optional()`,
  )
}

function hasRules({ properties = {}, items, additionalProperties, ...json }: JSONSchemaProps): boolean {
  if (json['x-kubernetes-validations'] !== undefined) return true
  const inner = [...Object.values(properties), items, additionalProperties]
  return inner.some((schema) => typeof schema === 'object' && hasRules(schema))
}

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
