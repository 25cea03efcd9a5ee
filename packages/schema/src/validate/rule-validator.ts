import { goQuote, isJsonObject, utf8Length } from '@kubewright/base'
import {
  CelCostError,
  CelError,
  type CelExpression,
  CostMeter,
  type DeclaredType,
  declareSchema,
  escapeIdentifier,
} from '@kubewright/cel'
import { duplicate, type FieldError, forbidden, invalid, omitValue, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { goTrim } from '../field/go-text.ts'
import type { ValidationRule } from '../model/json-schema.ts'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'
import { type Correlation, MapList } from './correlation.ts'
import { type CompiledRule, compileRules } from './rule-compiler.ts'

/** The cost limit of all rules of an object together. */
export const RULE_COST_BUDGET = 10_000_000

const MAX_MESSAGE_BYTES = 5 * 1024
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Facts about the update for which rules run. */
export interface RuleRunOptions {
  /** Correlates values with their old values, for ratcheting. Called only if a rule fails. */
  readonly correlation?: (() => Correlation) | undefined
  readonly onWarning?: ((text: string) => void) | undefined
}

/** The result of running rules. A negative budget means that some rules did not run. */
export interface RuleRunResult {
  readonly errors: FieldError[]
  readonly remaining: number
}

/**
 * Evaluates the `x-kubernetes-validations` of a schema. Each rule is compiled when a value first reaches it.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 */
export class RuleValidator {
  readonly #root: RuleNode

  private constructor(root: RuleNode) {
    this.#root = root
  }

  /** Returns the validator of a schema, or `null` if it has no rules. */
  static of(node: StructuralNode, isResourceRoot: boolean): RuleValidator | null {
    if (!node.has('rules')) return null
    const declared = declareSchema(node.json, { isResourceRoot })
    return new RuleValidator(new RuleNode(node, declared))
  }

  /** Runs all rules with the budget of one object. */
  validate(value: unknown, old: unknown, path: FieldPath, options: RuleRunOptions = {}): FieldError[] {
    return this.run(value, old, path, RULE_COST_BUDGET, options).errors
  }

  /** Runs all rules with the given budget. `old` is `undefined` if there is no old value. */
  run(value: unknown, old: unknown, path: FieldPath, budget: number, options: RuleRunOptions = {}): RuleRunResult {
    const run = new RuleRun(path, budget, options)
    run.visit(this.#root, value, old)
    return { errors: run.errors, remaining: run.budget }
  }
}

/** A schema that has rules, itself or below. */
class RuleNode {
  readonly node: StructuralNode
  readonly #declared: DeclaredType | undefined
  #rules: readonly CompiledRule[] | undefined
  #items: RuleNode | null | undefined
  #additional: RuleNode | null | undefined
  readonly #properties = new Map<string, RuleNode | null>()

  constructor(node: StructuralNode, declared: DeclaredType | undefined) {
    this.node = node
    this.#declared = declared
  }

  /** The reason why the rules of this schema cannot be compiled at all. */
  get compileError(): string | undefined {
    if (this.#declared !== undefined || this.node.rules.length === 0) return undefined
    return 'failed to convert to declType for CEL validation rules'
  }

  get rules(): readonly CompiledRule[] {
    this.#rules ??= this.#declared === undefined ? [] : compileRules(this.node.json, this.#declared)
    return this.#rules
  }

  get items(): RuleNode | undefined {
    if (this.#items === undefined) this.#items = ruleNode(this.node.items, this.#declared?.element)
    return this.#items ?? undefined
  }

  get additional(): RuleNode | undefined {
    if (this.#additional === undefined) this.#additional = ruleNode(this.node.additional, this.#declared?.element)
    return this.#additional ?? undefined
  }

  property(name: string): RuleNode | undefined {
    let known = this.#properties.get(name)
    if (known === undefined) {
      known = this.#newProperty(name)
      // The number of properties is limited, but the number of map keys is not, so only properties are cached.
      if (this.node.properties?.has(name) === true) this.#properties.set(name, known)
    }
    return known ?? undefined
  }

  #newProperty(name: string): RuleNode | null {
    const node = this.node.properties?.get(name)
    if (node?.has('rules') !== true) return null
    const escaped = escapeIdentifier(name)
    // A name that cannot be written in CEL is not declared in the enclosing type, but rules of the property itself can
    // access the value.
    const declared =
      escaped === undefined
        ? declareSchema(node.json, { isResourceRoot: node.embedded })
        : this.#declared?.fields?.get(escaped)?.type
    return declared === undefined ? null : new RuleNode(node, declared)
  }
}

function ruleNode(node: StructuralNode | undefined, declared: DeclaredType | undefined): RuleNode | null {
  return node?.has('rules') === true ? new RuleNode(node, declared) : null
}

/** One run over one object: the current position, the remaining budget, and the errors. */
class RuleRun {
  readonly errors: FieldError[] = []
  budget: number
  readonly #base: FieldPath
  readonly #options: RuleRunOptions
  readonly #meter = new CostMeter()
  /** The steps to the current value. Paths and correlations are built from them only if a rule fails. */
  readonly #steps: (string | number)[] = []
  /** For each step, whether it is a map key instead of a field name. */
  readonly #isMapKey: boolean[] = []

  constructor(base: FieldPath, budget: number, options: RuleRunOptions) {
    this.#base = base
    this.budget = budget
    this.#options = options
  }

  /** Runs the rules of a value and of everything in it, until the budget is exhausted. */
  visit(rules: RuleNode, value: unknown, old: unknown): void {
    // Rules run only on existing values. Enclosing rules decide whether a value may be null or absent.
    if (value === null || value === undefined) return
    this.#runRules(rules, value, old ?? undefined)
    if (this.budget < 0) return
    if (Array.isArray(value)) this.#visitItems(rules, value, old)
    else if (typeof value === 'object') this.#visitFields(rules, value as JsonObject, old)
  }

  #visitItems(rules: RuleNode, list: readonly unknown[], old: unknown): void {
    const items = rules.items
    if (items === undefined) return
    const oldItems = Array.isArray(old) && rules.node.listType === 'map' ? new MapList(rules.node, old) : undefined
    for (let i = 0; i < list.length; i++) this.#step(i, false, items, list[i], oldItems?.get(list[i]))
  }

  #visitFields(rules: RuleNode, object: JsonObject, old: unknown): void {
    const oldObject = isJsonObject(old) ? old : undefined
    for (const name in object) {
      const property = rules.property(name)
      const field = property ?? (rules.node.properties?.has(name) === true ? undefined : rules.additional)
      if (field === undefined) continue
      const oldField = oldObject !== undefined && Object.hasOwn(oldObject, name) ? oldObject[name] : undefined
      this.#step(name, property === undefined, field, object[name], oldField)
    }
  }

  #step(step: string | number, isMapKey: boolean, rules: RuleNode, value: unknown, old: unknown): void {
    if (this.budget < 0) return
    this.#steps.push(step)
    this.#isMapKey.push(isMapKey)
    this.visit(rules, value, old)
    this.#steps.pop()
    this.#isMapKey.pop()
  }

  #path(): FieldPath {
    let path = this.#base
    this.#steps.forEach((step, i) => {
      if (typeof step === 'number') path = path.index(step)
      else path = this.#isMapKey[i] === true ? path.key(step) : path.child(step)
    })
    return path
  }

  /** Reports whether the value, or the nearest enclosing value that can be correlated, is unchanged. */
  #unchanged(): boolean {
    let current = this.#options.correlation?.()
    let nearest: Correlation | undefined
    for (const step of this.#steps) {
      if (current === undefined) break
      // Type metadata at the root does not ratchet, because a change would go unnoticed.
      if (nearest === undefined && (step === 'apiVersion' || step === 'kind')) return false
      nearest = current
      current = typeof step === 'number' ? current.index(step) : current.key(step)
    }
    return (current ?? nearest)?.unchanged() === true
  }

  #runRules(node: RuleNode, value: unknown, old: unknown): void {
    const { type } = node.node
    if (node.compileError !== undefined) {
      this.errors.push(invalid(this.#path(), type, `rule compiler initialization error: ${node.compileError}`))
      return
    }
    const rules = node.rules
    if (rules.length === 0) return
    if (this.budget <= 0) {
      this.#outOfBudget(type)
      return
    }
    for (const compiled of rules) {
      this.#runRule(compiled, type, value, old)
      if (this.budget < 0) return
    }
  }

  #runRule(compiled: CompiledRule, type: string, value: unknown, old: unknown): void {
    const { rule, expression } = compiled
    if (compiled.error !== undefined) {
      this.errors.push(invalid(this.#path(), type, `rule compile error: ${compiled.error}`))
      return
    }
    if (expression === undefined) return
    // Transition rules need an old value, unless they accept an optional one.
    if (compiled.usesOldSelf && old === undefined && rule.optionalOldSelf !== true) return
    const variables = { self: value, oldSelf: old }
    const outcome = this.#evaluate(expression, variables)
    if (this.#meter.cost > this.budget) {
      this.#outOfBudget(type)
      return
    }
    this.budget -= this.#meter.cost
    if (outcome === true) return
    if (outcome instanceof CelError) {
      if (outcome instanceof CelCostError) this.budget = -1
      this.errors.push(invalid(this.#path(), type, evaluationErrorText(outcome, rule)))
      return
    }
    const error = this.#ruleError(compiled, type, value, variables)
    if (!compiled.usesOldSelf && this.#unchanged()) this.#options.onWarning?.(error.toString())
    else this.errors.push(error)
  }

  /** Returns the result or the error of the evaluation. The cost is on the meter. */
  #evaluate(expression: CelExpression, variables: Readonly<Record<string, unknown>>): unknown {
    this.#meter.cost = 0
    try {
      return expression.evaluate(variables, this.#meter)
    } catch (error) {
      if (error instanceof CelError) return error
      throw error
    }
  }

  #outOfBudget(type: string): void {
    this.errors.push(invalid(this.#path(), type, OUT_OF_BUDGET))
    this.budget = -1
  }

  #ruleError(
    compiled: CompiledRule,
    type: string,
    value: unknown,
    variables: Readonly<Record<string, unknown>>,
  ): FieldError {
    const { rule } = compiled
    const base = this.#path()
    const field = compiled.fieldPath === '' ? base : base.child(compiled.fieldPath)
    const message = compiled.message === undefined ? undefined : this.#message(compiled, compiled.message, variables)
    if (message instanceof MessageFailure) return invalid(field, type, message.detail)
    const shown = type === 'object' || type === 'array' ? omitValue : value
    return errorForReason(rule, field, shown, message ?? messageOrDefault(rule))
  }

  /**
   * Returns the result of a message expression: `undefined` if it fails, a MessageFailure if it exceeds the cost limit.
   */
  #message(
    compiled: CompiledRule,
    expression: CelExpression,
    variables: Readonly<Record<string, unknown>>,
  ): string | MessageFailure | undefined {
    const outcome = this.#evaluate(expression, variables)
    if (this.#meter.cost > this.budget) {
      this.budget = -1
      return new MessageFailure(
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      )
    }
    if (outcome instanceof CelCostError) {
      this.budget = -1
      const source = goQuote(compiled.rule.messageExpression ?? '')
      return new MessageFailure(
        `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`,
      )
    }
    this.budget -= this.#meter.cost
    if (typeof outcome !== 'string') return undefined
    const text = goTrim(outcome)
    return text === '' || text.includes('\n') || utf8Length(text) > MAX_MESSAGE_BYTES ? undefined : text
  }
}

/** A failed message expression that ends the run. */
class MessageFailure {
  readonly detail: string

  constructor(detail: string) {
    this.detail = detail
  }
}

function errorForReason(rule: ValidationRule, path: FieldPath, value: unknown, detail: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail)
    case 'FieldValueRequired':
      return required(path, detail)
    case 'FieldValueDuplicate':
      return duplicate(path, value)
    default:
      return invalid(path, value, detail)
  }
}

function messageOrDefault(rule: ValidationRule): string {
  return (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : ruleText(rule)
}

/** Returns the text that represents the rule in messages: its message, else the rule itself. */
function ruleText(rule: ValidationRule): string {
  return goTrim((rule.message ?? '') === '' ? rule.rule : (rule.message as string))
}

function evaluationErrorText(error: CelError, rule: ValidationRule): string {
  const { message } = error
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
  }
  if (error instanceof CelCostError) {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`
  }
  return `${message} evaluating rule: ${ruleText(rule)}`
}
