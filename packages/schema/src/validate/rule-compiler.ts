import {
  BOOL,
  CelCompileError,
  CelEnvironment,
  type CelExpression,
  CelPlanError,
  type DeclaredType,
  kubernetesLibraries,
  STRING,
  sameType,
} from '@kubewright/cel'
import { goTrim } from '../field/go-text.ts'
import { expressionSteps, spendSteps } from '../field/validation-steps.ts'
import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import { resolveSchemaPath } from '../model/rule-field-path.ts'

/** A compiled rule, or the errors in its expressions. */
export interface CompiledRule {
  readonly rule: ValidationRule
  /** `undefined` if the rule is empty or has an error. */
  readonly expression: CelExpression | undefined
  readonly error: string | undefined
  readonly usesOldSelf: boolean
  /** The estimated worst-case cost of the expression for one value. */
  readonly maxCost: number
  readonly message: CelExpression | undefined
  readonly messageError: string | undefined
  readonly messageMaxCost: number
  /** The normalised `fieldPath` of the rule, relative to the value; empty if there is none. */
  readonly fieldPath: string
}

let base: CelEnvironment | undefined

/**
 * The environment of all rules. Created on first use, because most programs that import this package evaluate no rules.
 */
function baseEnvironment(): CelEnvironment {
  base ??= CelEnvironment.create({ libraries: kubernetesLibraries })
  return base
}

/** Compiles the rules of a schema for values of the declared type. Errors in rules are returned, not thrown. */
export function compileRules(schema: JSONSchemaProps, declared: DeclaredType): CompiledRule[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  if (rules.length === 0) return []
  const plain = baseEnvironment().extend({ variables: { self: declared, oldSelf: declared } })
  let optional: CelEnvironment | undefined
  return rules.map((rule) => {
    if (rule.optionalOldSelf !== true) return compileRule(rule, schema, plain)
    optional ??= baseEnvironment().extend({ variables: { self: declared, oldSelf: { optional: declared } } })
    return compileRule(rule, schema, optional)
  })
}

function compileRule(rule: ValidationRule, schema: JSONSchemaProps, environment: CelEnvironment): CompiledRule {
  const blank: CompiledRule = {
    rule,
    expression: undefined,
    error: undefined,
    usesOldSelf: false,
    maxCost: 0,
    message: undefined,
    messageError: undefined,
    messageMaxCost: 0,
    fieldPath: '',
  }
  if (goTrim(rule.rule ?? '') === '') return blank
  const expression = compile(rule.rule, environment)
  if (typeof expression === 'string') return { ...blank, error: expression }
  if (!sameType(expression.outputType, BOOL)) return { ...blank, error: 'cel expression must evaluate to a bool' }
  const compiled: CompiledRule = {
    ...blank,
    expression,
    usesOldSelf: expression.uses('oldSelf'),
    maxCost: expression.estimateCost().max,
  }
  const messageText = rule.messageExpression ?? ''
  const message = messageText === '' ? undefined : compile(messageText, environment)
  // As in the API server, an error in the message expression also discards the field path of the rule.
  if (typeof message === 'string')
    return { ...compiled, messageError: `messageExpression ${message.replace(/^program /, '')}` }
  if (message !== undefined && !sameType(message.outputType, STRING)) {
    return { ...compiled, messageError: 'messageExpression must evaluate to a string' }
  }
  const messageMaxCost = message === undefined ? 0 : message.estimateCost().max
  return { ...compiled, message, messageMaxCost, fieldPath: normalPath(rule, schema) }
}

/**
 * Returns the compiled expression, or the error: it does not compile, or contains a constant that can never be
 * evaluated.
 */
function compile(source: string, environment: CelEnvironment): CelExpression | string {
  spendSteps(expressionSteps(source))
  try {
    return environment.compile(source)
  } catch (error) {
    if (error instanceof CelCompileError) return `compilation failed: ${error.message}`
    if (error instanceof CelPlanError) return `program instantiation failed: ${error.message}`
    throw error
  }
}

function normalPath(rule: ValidationRule, schema: JSONSchemaProps): string {
  if ((rule.fieldPath ?? '') === '') return ''
  try {
    return resolveSchemaPath(rule.fieldPath as string, schema).path.toString()
  } catch {
    // An invalid path is ignored: the error then refers to the value itself.
    return ''
  }
}
