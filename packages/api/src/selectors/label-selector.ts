import { append, compareUtf8, goQuote, isQualifiedName, isValidLabelValue } from '@kubewright/base'
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  type LabelSelector,
  type LabelSelectorRequirement,
  required,
} from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { parseSelector } from './parse-selector.ts'
import { newRequirement, type SelectionOperator } from './requirement.ts'
import { Selector } from './selector.ts'

/** A `LabelSelector` from any object: read, draft or unvalidated. */
export interface LabelSelectorLike {
  readonly matchLabels?: { readonly [key: string]: string } | undefined
  readonly matchExpressions?: readonly LabelSelectorRequirementLike[] | undefined
}

/** One expression of a {@link LabelSelectorLike}. A valid operator is `In`, `NotIn`, `Exists` or `DoesNotExist`. */
export interface LabelSelectorRequirementLike {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

const operatorNames: readonly [LabelSelectorRequirement['operator'], SelectionOperator][] = [
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]
const operators: ReadonlyMap<string, SelectionOperator> = new Map(operatorNames)

/** Converts a `LabelSelector` to a selector. An absent one selects nothing, an empty one everything. */
export function selectorFrom(labelSelector: LabelSelectorLike | null | undefined): Selector {
  if (labelSelector === undefined || labelSelector === null) return Selector.nothing
  const labels = Object.entries(labelSelector.matchLabels ?? {})
  const requirements = labels.map(([key, value]) => newRequirement(key, '=', [value]))
  for (const { key, operator, values = [] } of labelSelector.matchExpressions ?? []) {
    const op = operators.get(operator)
    if (op === undefined) throw new ApiSyntaxError(`${goQuote(operator)} is not a valid label selector operator`)
    requirements.push(newRequirement(key, op, [...values]))
  }
  return Selector.of(requirements)
}

/** Parses selector syntax to a `LabelSelector`. Throws for `>` and `<`, which a `LabelSelector` cannot express. */
export function parseToLabelSelector(text: string): LabelSelector {
  let selector: Selector
  try {
    selector = parseSelector(text)
  } catch (error) {
    if (!(error instanceof ApiSyntaxError)) throw error
    throw new ApiSyntaxError(`couldn't parse the selector string "${text}": ${error.message}`)
  }
  const matchLabels: Record<string, string> = {}
  const matchExpressions: LabelSelectorRequirement[] = []
  for (const { key, operator, values } of selector.requirements) {
    if (operator === '=' || operator === '==') {
      matchLabels[key] = values[0]!
      continue
    }
    const [name] = operatorNames.find(([, op]) => op === operator) ?? []
    if (name === undefined) {
      const unsupported = operator === 'gt' || operator === 'lt'
      throw new ApiSyntaxError(
        `${goQuote(operator)} ${unsupported ? "isn't supported in label selectors" : 'is not a valid label selector operator'}`,
      )
    }
    matchExpressions.push({ key, operator: name, values: [...values].sort(compareUtf8) })
  }
  return { matchLabels, matchExpressions }
}

/**
 * The labels that a `LabelSelector` requires. Throws when it has any requirement other than equality with a single
 * value.
 */
export function labelSelectorAsMap(labelSelector: LabelSelectorLike): Record<string, string> {
  const labels: Record<string, string> = { ...labelSelector.matchLabels }
  for (const { key, operator, values = [] } of labelSelector.matchExpressions ?? []) {
    if (!operators.has(operator)) throw new ApiSyntaxError(`${goQuote(operator)} is not a valid selector operator`)
    if (operator !== 'In' || values.length !== 1) {
      const without = operator === 'In' ? ' without a single value' : ''
      throw new ApiSyntaxError(
        `operator ${goQuote(operator)}${without} cannot be converted into the old label selector format`,
      )
    }
    labels[key] = values[0]!
  }
  return labels
}

/** Formats a selector as kubectl's tables do: `<none>` when it is empty or absent, `<error>` when it is malformed. */
export function formatLabelSelector(labelSelector: LabelSelectorLike | null | undefined): string {
  try {
    return selectorFrom(labelSelector).toString() || '<none>'
  } catch {
    return '<error>'
  }
}

/** Exemptions of {@link validateLabelSelector}. */
export interface LabelSelectorValidationOptions {
  /** Skips the check of values in expressions, for objects that were stored before the check existed. */
  readonly allowInvalidLabelValueInSelector?: boolean | undefined
  /** Accepts unknown operators, for access reviews. */
  readonly allowUnknownOperatorInRequirement?: boolean | undefined
}

/** Validates a `LabelSelector` field as the API server does. */
export function validateLabelSelector(
  labelSelector: LabelSelectorLike | null | undefined,
  path: FieldPath,
  options: LabelSelectorValidationOptions = {},
): FieldError[] {
  if (labelSelector === undefined || labelSelector === null) return []
  const errors = validateLabels(labelSelector.matchLabels, path.child('matchLabels'))
  labelSelector.matchExpressions?.forEach((expression, i) => {
    append(errors, expressionErrors(expression, path.child('matchExpressions').index(i), options))
  })
  return errors
}

/** Validates labels: keys must be qualified names, values must be label values. */
export function validateLabels(labels: { readonly [key: string]: string } | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of isQualifiedName(key)) errors.push(invalid(path, key, problem))
    for (const problem of isValidLabelValue(value)) errors.push(invalid(path, value, problem))
  }
  return errors
}

function expressionErrors(
  expression: LabelSelectorRequirementLike,
  path: FieldPath,
  options: LabelSelectorValidationOptions,
): FieldError[] {
  const { key, operator, values = [] } = expression
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    }
  } else if (!options.allowUnknownOperatorInRequirement) {
    errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  for (const problem of isQualifiedName(key)) errors.push(invalid(path.child('key'), key, problem))
  if (!options.allowInvalidLabelValueInSelector) {
    values.forEach((value, i) => {
      for (const problem of isValidLabelValue(value))
        errors.push(invalid(path.child('values').index(i), value, problem))
    })
  }
  return errors
}
