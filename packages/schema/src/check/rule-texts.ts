import { type FieldError, invalid, notSupported, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { goTrim } from '../field/go-text.ts'
import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import { resolveSchemaPath } from '../model/rule-field-path.ts'
import { structuralError } from '../model/schema-shape.ts'

const REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
]

/** Checks all parts of rules except their expressions. */
export function checkRuleTexts(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  schema['x-kubernetes-validations']?.forEach((rule, i) => {
    const at = path.child('x-kubernetes-validations').index(i)
    checkMessage(rule, at, errors)
    const reason: string | undefined = rule.reason ?? undefined
    if (reason !== undefined && !REASONS.includes(reason)) {
      errors.push(notSupported(at.child('reason'), reason, REASONS))
    }
    checkFieldPath(schema, rule.fieldPath ?? '', at.child('fieldPath'), errors)
  })
}

function checkMessage(rule: ValidationRule, at: FieldPath, errors: FieldError[]): void {
  const message = rule.message ?? ''
  const trimmed = goTrim(message)
  const expression = goTrim(rule.rule ?? '')
  if (expression === '') {
    errors.push(required(at.child('rule'), 'rule is not specified'))
  } else if (message !== '' && trimmed === '') {
    errors.push(invalid(at.child('message'), message, 'must be non-empty if specified'))
  } else if (hasLineBreak(trimmed)) {
    errors.push(invalid(at.child('message'), message, 'must not contain line breaks'))
  } else if (hasLineBreak(expression) && trimmed === '') {
    errors.push(required(at.child('message'), 'message must be specified if rule contains line breaks'))
  }
  const messageExpression = rule.messageExpression ?? ''
  if (messageExpression !== '' && goTrim(messageExpression) === '') {
    errors.push(required(at.child('messageExpression'), 'messageExpression must be non-empty if specified'))
  }
}

function checkFieldPath(schema: JSONSchemaProps, fieldPath: string, at: FieldPath, errors: FieldError[]): void {
  if (fieldPath === '') return
  if (goTrim(fieldPath) === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreak(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'))
  if (!isValidPath(schema, fieldPath)) errors.push(invalid(at, fieldPath, 'must be a valid path'))
}

function isValidPath(schema: JSONSchemaProps, fieldPath: string): boolean {
  // For a schema that is not structural, other checks report the error.
  if (structuralError(schema) !== undefined) return true
  try {
    resolveSchemaPath(fieldPath, schema)
    return true
  } catch {
    return false
  }
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text)
}
