import { intValue } from '@kubewright/api'
import { isValidPercent } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid } from '@kubewright/schema'
import { addInvalid, checkNonNegative, namedString } from '../../checks/field-checks.ts'
import { structValue } from '../../checks/strategy-checks.ts'

/** A number of pods or a percentage of them, as a client sends it. */
export type IntOrPercent = string | number | undefined

/** Checks that the value is a number that is not negative, or a percentage. */
export function checkIntOrPercent(errors: FieldError[], path: FieldPath, value: IntOrPercent = 0): void {
  if (typeof value === 'string') addInvalid(errors, path, namedString(value), isValidPercent(value))
  else checkNonNegative(errors, path, value)
}

/** Checks that a percentage is at most 100 %. */
export function checkAtMostAll(errors: FieldError[], path: FieldPath, value: IntOrPercent): void {
  if ((percentOf(value) ?? 0) > 100) errors.push(invalid(path, value, 'must not be greater than 100%'))
}

/** The number in a count or a percentage. */
export function numberOf(value: IntOrPercent = 0): number {
  return percentOf(value) ?? intValue(value)
}

function percentOf(value: IntOrPercent): number | undefined {
  return typeof value === 'string' && isValidPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined
}

/** The update strategy of a Deployment or a DaemonSet in the form that errors show. */
export function updateStrategyValue({ type, rollingUpdate }: UpdateStrategy): unknown {
  const rolling = rollingUpdate
    ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
    : null
  return structValue({ Type: type ?? '', RollingUpdate: rolling })
}

interface UpdateStrategy {
  readonly type?: string | undefined
  readonly rollingUpdate?:
    | { readonly maxUnavailable?: IntOrPercent | undefined; readonly maxSurge?: IntOrPercent | undefined }
    | undefined
}
