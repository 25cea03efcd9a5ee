import { type DeclaredType, declareSchema, escapeIdentifier, MAX_REQUEST_SIZE_BYTES } from '@kubewright/cel'
import { type FieldError, forbidden, internalError, invalid, RawValue } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { hasAdditional } from '../model/schema-shape.ts'
import { type CompiledRule, compileRules } from '../validate/rule-compiler.ts'
import { ruleJson } from './go-schema-json.ts'

/** Costs saturate at this value, like in saturating 64-bit arithmetic. */
const MAX_COST = 2 ** 64
/** The limit of the estimated cost of one expression. */
const EXPRESSION_COST_LIMIT = 10_000_000
/** The limit of the estimated cost of all expressions of a schema. */
const SCHEMA_COST_LIMIT = 100_000_000

/** The estimated cost of all rules of a schema, and the most expensive ones. */
class TotalCost {
  sum = 0
  mostExpensive: { readonly path: FieldPath; readonly cost: number }[] = []

  observe(path: FieldPath, cost: number): void {
    this.sum = Math.min(MAX_COST, this.sum + cost)
    if (cost < SCHEMA_COST_LIMIT / 100) return
    this.mostExpensive.push({ path, cost })
    this.mostExpensive.sort((a, b) => b.cost - a.cost)
    this.mostExpensive.length = Math.min(this.mostExpensive.length, 4)
  }
}

/**
 * The context in which the rules of a schema are checked: the type of its values as declared by the enclosing schema,
 * and the maximum number of values in an object.
 *
 * As in apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go.
 */
export class RuleScope {
  readonly #schema: JSONSchemaProps
  readonly #parent: RuleScope | undefined
  readonly #fromParent: (declared: DeclaredType) => DeclaredType | undefined
  /** Whether this schema or an enclosing one has rules, so that the type is computed from the outside in. */
  readonly covered: boolean
  /** The maximum number of values; `undefined` if an enclosing list or map has no limit. */
  readonly #cardinality: number | undefined
  readonly #total: TotalCost
  readonly #ignoreCost: boolean
  #declared: DeclaredType | string | undefined

  private constructor(
    schema: JSONSchemaProps,
    parent: RuleScope | undefined,
    fromParent: (declared: DeclaredType) => DeclaredType | undefined,
    ignoreCost: boolean,
  ) {
    this.#schema = schema
    this.#parent = parent
    this.#fromParent = fromParent
    this.#ignoreCost = ignoreCost
    this.covered = parent?.covered === true || (schema['x-kubernetes-validations'] ?? []).length > 0
    this.#total = parent === undefined ? new TotalCost() : parent.#total
    this.#cardinality = parent === undefined ? 1 : parent.#childCardinality()
  }

  /** Returns the scope of the root schema. With `ignoreCost`, the cost limit of single expressions is not enforced. */
  static root(schema: JSONSchemaProps, ignoreCost: boolean): RuleScope {
    return new RuleScope(schema, undefined, () => undefined, ignoreCost)
  }

  property(schema: JSONSchemaProps, name: string): RuleScope {
    return this.#child(schema, (declared) => {
      const escaped = escapeIdentifier(name)
      return escaped === undefined ? undefined : declared.fields?.get(escaped)?.type
    })
  }

  items(schema: JSONSchemaProps): RuleScope {
    return this.#child(schema, (declared) => declared.element)
  }

  additional(schema: JSONSchemaProps): RuleScope {
    return this.#child(schema, (declared) => declared.element)
  }

  #child(schema: JSONSchemaProps, fromParent: (declared: DeclaredType) => DeclaredType | undefined): RuleScope {
    return new RuleScope(schema, this, fromParent, this.#ignoreCost)
  }

  #childCardinality(): number | undefined {
    const factor = maxElements(this.#schema)
    if (this.#cardinality === undefined || factor === undefined) return undefined
    return multiply(this.#cardinality, factor)
  }

  /** Returns the type of the values, or the reason why rules cannot access them. */
  #type(): DeclaredType | string {
    this.#declared ??= this.#findType()
    return this.#declared
  }

  #findType(): DeclaredType | string {
    if (this.#parent?.covered === true) {
      const parent = this.#parent.#type()
      if (typeof parent === 'string') return parent
      const declared = this.#fromParent(parent)
      if (declared !== undefined) return declared
    }
    const isResourceRoot = this.#parent === undefined || this.#schema['x-kubernetes-embedded-resource'] === true
    return declareSchema(this.#schema, { isResourceRoot }) ?? 'unable to convert structural schema to CEL declarations'
  }

  /** Compiles the rules of this schema and reports the errors in their expressions. */
  checkRules(path: FieldPath, uncorrelatable: FieldPath | undefined, errors: FieldError[]): void {
    const at = path.child('x-kubernetes-validations')
    const declared = this.#type()
    if (typeof declared === 'string') {
      const detail = `internal error: failed to construct type information for x-kubernetes-validations rules: ${declared}`
      errors.push(internalError(at, detail))
      return
    }
    const cardinality = this.#cardinality ?? Math.trunc(MAX_REQUEST_SIZE_BYTES / (declared.minSerializedSize + 1))
    compileRules(this.#schema, declared).forEach((compiled, i) => {
      this.#checkRule(compiled, cardinality, at.index(i), uncorrelatable, errors)
    })
  }

  #checkRule(
    compiled: CompiledRule,
    cardinality: number,
    at: FieldPath,
    uncorrelatable: FieldPath | undefined,
    errors: FieldError[],
  ): void {
    const { rule } = compiled
    const rulePath = at.child('rule')
    const messagePath = at.child('messageExpression')
    this.#checkCost('estimated rule cost', multiply(compiled.maxCost, cardinality), rulePath, errors)
    if (compiled.error !== undefined) errors.push(invalid(rulePath, new RawValue(ruleJson(rule)), compiled.error))
    if (compiled.messageError !== undefined) {
      errors.push(invalid(messagePath, new RawValue(ruleJson(rule)), compiled.messageError))
    } else if (compiled.message !== undefined) {
      this.#checkCost('estimated messageExpression cost', compiled.messageMaxCost, messagePath, errors)
    }
    if (compiled.usesOldSelf) {
      if (uncorrelatable === undefined) return
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
      errors.push(invalid(rulePath, rule.rule, detail))
    } else if (rule.optionalOldSelf !== undefined && rule.optionalOldSelf !== null) {
      const detail = 'may not be set if oldSelf is not used in rule'
      errors.push(invalid(at.child('optionalOldSelf'), rule.optionalOldSelf, detail))
    }
  }

  #checkCost(what: string, cost: number, path: FieldPath, errors: FieldError[]): void {
    if (!this.#ignoreCost && cost > EXPRESSION_COST_LIMIT) {
      errors.push(forbidden(path, costText(what, cost, EXPRESSION_COST_LIMIT)))
    }
    this.#total.observe(path, cost)
  }

  /**
   * Reports whether all rules together exceed the cost limit. Call it on the root scope after all rules have been
   * checked.
   */
  checkTotalCost(path: FieldPath, errors: FieldError[]): void {
    if (this.#total.sum <= SCHEMA_COST_LIMIT) return
    for (const expensive of this.#total.mostExpensive) {
      const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
      errors.push(forbidden(expensive.path, detail))
    }
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    errors.push(forbidden(path, costText(what, this.#total.sum, SCHEMA_COST_LIMIT)))
  }
}

/**
 * Returns the factor by which a schema multiplies its children: the limit of lists and maps, 1 for other schemas,
 * `undefined` without a limit.
 */
function maxElements(schema: JSONSchemaProps): number | undefined {
  if (schema.type === 'array') return nonNegative(schema.maxItems)
  if (schema.type === 'object' && hasAdditional(schema)) {
    return nonNegative(schema.maxProperties)
  }
  return 1
}

function nonNegative(limit: number | null | undefined): number | undefined {
  return limit === undefined || limit === null ? undefined : Math.max(0, limit)
}

function multiply(cost: number, cardinality: number): number {
  return Math.min(MAX_COST, cost * cardinality)
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  let shown: string
  if (factor > 100) shown = 'more than 100x'
  else if (factor < 1.5) shown = `${factor.toFixed(6)}x`
  else shown = `${oneDecimal(factor)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

/** Formats like Go's `%.1f`, which rounds ties to even; `toFixed` rounds them up. */
function oneDecimal(value: number): string {
  const tenths = value * 10
  const lower = Math.floor(tenths)
  const isTie = tenths - lower === 0.5
  return isTie && lower % 2 === 0 ? (lower / 10).toFixed(1) : value.toFixed(1)
}
