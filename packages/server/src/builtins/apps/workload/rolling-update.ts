import { intValue } from '@kubewright/api'
import { isValidPercent } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid } from '@kubewright/schema'
import { addInvalid, checkNonNegative } from '../../checks/field-checks.ts'

/** A count or a share, as a client sends it. */
export type IntOrPercent = string | number | undefined

/** The value must be a number from 0 on, or a percentage. */
export function checkIntOrPercent(errors: FieldError[], path: FieldPath, value: IntOrPercent = 0): void {
  if (typeof value === 'string') addInvalid(errors, path, value, isValidPercent(value))
  else checkNonNegative(errors, path, value)
}

/** A percentage must not be more than all. */
export function checkAtMostAll(errors: FieldError[], path: FieldPath, value: IntOrPercent): void {
  if ((percentOf(value) ?? 0) > 100) errors.push(invalid(path, value, 'must not be greater than 100%'))
}

/** The number, be it a count or a percentage. */
export function numberOf(value: IntOrPercent = 0): number {
  return percentOf(value) ?? intValue(value)
}

function percentOf(value: IntOrPercent): number | undefined {
  return typeof value === 'string' && isValidPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined
}
