import { CaughtError } from '@kubewright/base'
import { type FieldError, FieldPath, goValue, invalid, isGoInteger } from '@kubewright/schema'
import type { MutableObject } from '../../resource/object.ts'
import type { CrdScale } from '../definitions/crd.ts'

const maxInt32 = 2147483647

/** The steps of a path such as `.spec.replicas`. */
export function stepsOf(path: string): string[] {
  return path.replace(/^\./, '').split('.')
}

/** The value at a path; undefined when it is missing. Throws an Error with Go's text for a value of another type. */
export function nestedValue(object: MutableObject, path: string, type: 'int64' | 'string'): unknown {
  const steps = stepsOf(path)
  let value: unknown = object
  for (const [i, step] of steps.entries()) {
    if (value === null || value === undefined) return undefined
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw accessError(steps.slice(0, i + 1), value, 'map[string]interface{}')
    }
    if (!Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  const fits = type === 'string' ? typeof value === 'string' : isInteger(value)
  if (!fits) throw accessError(steps, value, type)
  return value
}

function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && isGoInteger(value))
}

function accessError(steps: readonly string[], value: unknown, expected: string): Error {
  const shown = typeof value === 'string' ? value : goValue(value)
  return new CaughtError(
    `.${steps.join('.')} accessor error: ${shown} is of the type ${goTypeName(value)}, expected ${expected}`,
  )
}

function goTypeName(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (isInteger(value)) return 'int64'
  return typeof value === 'number' ? 'float64' : 'string'
}

/** Validates the replicas of the spec. */
export function validateScaleSpec(object: MutableObject, { specReplicasPath = '' }: CrdScale): FieldError[] {
  return validateReplicas(object, specReplicasPath)
}

/** Validates the replicas of the status and the label selector. */
export function validateScaleStatus(object: MutableObject, scale: CrdScale): FieldError[] {
  const errors = validateReplicas(object, scale.statusReplicasPath ?? '')
  const { labelSelectorPath } = scale
  if (labelSelectorPath === undefined) return errors
  try {
    nestedValue(object, labelSelectorPath, 'string')
  } catch (error) {
    errors.push(invalid(FieldPath.of(labelSelectorPath), '', (error as Error).message))
  }
  return errors
}

function validateReplicas(object: MutableObject, path: string): FieldError[] {
  const at = FieldPath.of(path)
  try {
    const value = Number(nestedValue(object, path, 'int64') ?? 0)
    if (value < 0) return [invalid(at, value, 'should be a non-negative integer')]
    if (value > maxInt32) return [invalid(at, value, `should be less than or equal to ${maxInt32}`)]
    return []
  } catch (error) {
    return [invalid(at, 0, (error as Error).message)]
  }
}
