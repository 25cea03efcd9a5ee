import { compareUtf8, isQualifiedName, isValidLabelValue } from '@kubewright/base'
import { aggregateText, type FieldError, FieldPath, invalid, notSupported } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'

/** The relation between a label and the values of a requirement (apimachinery's selection.Operator). */
export type SelectionOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

/** The operators that take values, in the order of the parser's error message. */
export const binaryOperators: readonly string[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt']

/** The labels of an object as in its metadata. */
export type LabelSet = { readonly [key: string]: string } | undefined

const int64 = /^[+-]?[0-9]+$/

/** One condition on one label. Immutable. The constructor does not validate; {@link newRequirement} does. */
export class Requirement {
  readonly key: string
  readonly operator: SelectionOperator
  readonly values: readonly string[]
  // Parsed once; `gt` and `lt` compare 64-bit integers.
  readonly #bound: bigint | undefined

  constructor(key: string, operator: SelectionOperator, values: readonly string[]) {
    this.key = key
    this.operator = operator
    this.values = values
    this.#bound = operator === 'gt' || operator === 'lt' ? parseInt64(values.length === 1 ? values[0]! : '') : undefined
  }

  /** Whether labels satisfy the requirement. For an absent label, `!=` and `notin` hold; `gt` and `lt` do not. */
  matches(labels: LabelSet): boolean {
    const value = labels?.[this.key]
    // An inherited property such as `constructor` is not a string, so it does not count as a label.
    const present = typeof value === 'string'
    switch (this.operator) {
      case 'in':
      case '=':
      case '==':
        return present && this.values.includes(value)
      case 'notin':
      case '!=':
        return !present || !this.values.includes(value)
      case 'exists':
        return present
      case '!':
        return !present
      default: {
        const actual = present ? parseInt64(value) : undefined
        if (actual === undefined || this.#bound === undefined) return false
        return this.operator === 'gt' ? actual > this.#bound : actual < this.#bound
      }
    }
  }

  /** The requirement in selector syntax, values in canonical order. */
  toString(): string {
    const { key, operator, values } = this
    switch (operator) {
      case 'exists':
        return key
      case '!':
        return `!${key}`
      case 'in':
      case 'notin':
        return `${key} ${operator} (${[...values].sort(compareUtf8).join(',')})`
      case 'gt':
        return `${key}>${values[0] ?? ''}`
      case 'lt':
        return `${key}<${values[0] ?? ''}`
      default:
        return `${key}${operator}${[...values].sort(compareUtf8).join(',')}`
    }
  }
}

/** Creates a validated requirement. Throws {@link ApiSyntaxError} with apimachinery's message when it is invalid. */
export function newRequirement(
  key: string,
  operator: SelectionOperator,
  values: readonly string[],
  path: FieldPath = FieldPath.none,
): Requirement {
  const errors = requirementErrors(key, operator, values, path)
  if (errors.length > 0) throw new ApiSyntaxError(aggregateText(errors))
  return new Requirement(key, operator, values)
}

/** The validation error of a label key, or undefined. */
export function labelKeyError(key: string, path: FieldPath): FieldError | undefined {
  const problems = isQualifiedName(key)
  return problems.length === 0 ? undefined : invalid(path, key, problems.join('; '))
}

function requirementErrors(key: string, operator: string, values: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const keyError = labelKeyError(key, path.child('key'))
  if (keyError !== undefined) errors.push(keyError)
  const valuesPath = path.child('values')
  // Go prints nil for an empty list here.
  const shown = values.length === 0 ? null : values
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length === 0) {
        errors.push(invalid(valuesPath, shown, "for 'in', 'notin' operators, values set can't be empty"))
      }
      break
    case '=':
    case '==':
    case '!=':
      if (values.length !== 1) {
        errors.push(invalid(valuesPath, shown, 'exact-match compatibility requires one single value'))
      }
      break
    case 'exists':
    case '!':
      if (values.length !== 0) {
        errors.push(invalid(valuesPath, shown, 'values set must be empty for exists and does not exist'))
      }
      break
    case 'gt':
    case 'lt':
      if (values.length !== 1) {
        errors.push(invalid(valuesPath, shown, "for 'Gt', 'Lt' operators, exactly one value is required"))
      }
      values.forEach((value, i) => {
        if (parseInt64(value) === undefined) {
          errors.push(invalid(valuesPath.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer"))
        }
      })
      break
    default:
      errors.push(notSupported(path.child('operator'), operator, [...binaryOperators, 'exists', '!']))
  }
  values.forEach((value, i) => {
    const problems = isValidLabelValue(value)
    if (problems.length > 0) errors.push(invalid(valuesPath.index(i).key(key), value, problems.join('; ')))
  })
  return errors
}

function parseInt64(text: string): bigint | undefined {
  if (!int64.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}
