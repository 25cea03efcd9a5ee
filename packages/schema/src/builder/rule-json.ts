import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import { resolveSchemaPath } from '../model/rule-field-path.ts'
import type { RuleOptions } from './schema.ts'

const lineBreak = /[\r\n]/
const reasons = new Set(['FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'])

/**
 * Returns the `x-kubernetes-validations` entry of a rule on `schema`.
 * @throws TypeError for errors that do not depend on the expression: blank texts, line breaks, unknown fields
 */
export function ruleJson(
  schema: JSONSchemaProps,
  rule: string,
  message: string | RuleOptions<unknown> | undefined,
): ValidationRule {
  const options: RuleOptions<unknown> = typeof message === 'string' ? { message } : (message ?? {})
  const fail = (problem: string): never => {
    throw new TypeError(`Cannot add rule ${JSON.stringify(rule)}: ${problem}`)
  }
  if (rule.trim() === '') fail('the CEL expression must not be empty')
  const { message: text, messageExpression, reason, fieldPath, optionalOldSelf } = options
  if (text !== undefined && text.trim() === '') fail('message must be non-empty if specified')
  if (text !== undefined && lineBreak.test(text.trim())) fail('message must not contain line breaks')
  if (lineBreak.test(rule.trim()) && text === undefined) fail('message must be specified if rule contains line breaks')
  if (messageExpression !== undefined && messageExpression.trim() === '') {
    fail('messageExpression must be non-empty if specified')
  }
  if (reason !== undefined && !reasons.has(reason)) fail(`reason must be one of ${[...reasons].join(', ')}`)
  if (fieldPath !== undefined && !pathExists(schema, fieldPath)) {
    fail(`fieldPath ${JSON.stringify(fieldPath)} must refer to a field below the one with the rule, such as ".a.b"`)
  }
  return {
    rule,
    ...(text === undefined ? {} : { message: text }),
    ...(messageExpression === undefined ? {} : { messageExpression }),
    ...(reason === undefined ? {} : { reason }),
    ...(fieldPath === undefined ? {} : { fieldPath }),
    ...(optionalOldSelf === undefined ? {} : { optionalOldSelf }),
  }
}

function pathExists(schema: JSONSchemaProps, path: string): boolean {
  try {
    return path !== '' && resolveSchemaPath(path, schema) !== undefined
  } catch {
    return false
  }
}
