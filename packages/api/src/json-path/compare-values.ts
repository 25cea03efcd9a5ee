import { compareUtf8 } from '@kubewright/base'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { GoFloat } from './json-path-node.ts'

/**
 * Compares two values as a JSONPath filter does. Only strings, booleans and numbers of the same Go kind can be
 * compared.
 */
export function compareValues(left: unknown, operator: string, right: unknown): boolean {
  switch (operator) {
    case '==':
      return equal(left, right)
    case '!=':
      return !equal(left, right)
    case '<':
      return less(left, right)
    case '<=':
      return less(left, right) || equal(left, right)
    case '>':
      return !(less(left, right) || equal(left, right))
    case '>=':
      return !less(left, right)
    default:
      throw new ApiSyntaxError(`unrecognized filter operator ${operator}`)
  }
}

type GoKind = 'bool' | 'int' | 'float' | 'string'

function kindOf(value: unknown): GoKind {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'bigint':
      return 'int'
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float'
    default:
      if (value instanceof GoFloat) return 'float'
      throw new ApiSyntaxError('invalid type for comparison')
  }
}

function sameKind(left: unknown, right: unknown): GoKind {
  const kind = kindOf(left)
  if (kind !== kindOf(right)) throw new ApiSyntaxError('incompatible types for comparison')
  return kind
}

function plain(value: unknown): unknown {
  return value instanceof GoFloat ? value.value : value
}

function equal(left: unknown, right: unknown): boolean {
  sameKind(left, right)
  // A bigint and a number with the same value are the same integer.
  // biome-ignore lint/suspicious/noDoubleEquals: both sides are of one Go kind here
  return plain(left) == plain(right)
}

function less(left: unknown, right: unknown): boolean {
  const kind = sameKind(left, right)
  if (kind === 'bool') throw new ApiSyntaxError('invalid type for comparison')
  if (kind === 'string') return compareUtf8(left as string, right as string) < 0
  return (plain(left) as number | bigint) < (plain(right) as number | bigint)
}
