import { utf8Length } from '@kubewright/base'
import { type FieldError, type FieldPath, goJson, invalid, RawValue, required } from '@kubewright/schema'
import type { CrdColumn, CrdSubresources, CrdVersion } from './crd.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const maxWarning = 256

/** Validates the warning for clients of a deprecated version. */
export function validateDeprecation(
  { deprecated, deprecationWarning: warning }: CrdVersion,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (warning === undefined) return
  // The field is a pointer in Go, whose value errors print as JSON.
  const shown = new RawValue(goJson(warning))
  if (!deprecated) {
    errors.push(invalid(path, shown, 'can only be set for deprecated versions'))
    return
  }
  if (utf8Length(warning) > maxWarning) errors.push(invalid(path, shown, 'must be <= 256 characters long'))
  if (warning === '') errors.push(invalid(path, shown, 'must not be an empty string'))
  // Printable in Go are letters, marks, numbers, punctuation, symbols and the space.
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning)
  if (odd) {
    const at = utf8Length(warning.slice(0, odd.index))
    const text = `must only contain printable UTF-8 characters; non-printable character found at index ${at}`
    errors.push(invalid(path, shown, text))
  }
}

/** Validates a printer column. */
export function validateColumn(column: CrdColumn, path: FieldPath, errors: FieldError[]): void {
  const { name = '', type = '', format = '', jsonPath = '' } = column
  if (name === '') errors.push(required(path.child('name')))
  const types = `must be one of ${columnTypes.join(',')}`
  if (type === '') errors.push(required(path.child('type'), types))
  else if (!columnTypes.includes(type)) errors.push(invalid(path.child('type'), type, types))
  if (format !== '' && !columnFormats.includes(format)) {
    errors.push(invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`))
  }
  if (jsonPath === '') errors.push(required(path.child('JSONPath')))
  else validateSimplePath(jsonPath, path.child('JSONPath'), errors)
}

/** Validates the paths of the scale subresource. */
export function validateSubresources(
  subresources: CrdSubresources | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const scale = subresources?.scale
  if (!scale) return
  const check = (at: FieldPath, value: string, prefixes: readonly string[], text: string): void => {
    if (!validateSimplePath(value, at, errors)) return
    if (!prefixes.some((prefix) => value.startsWith(prefix))) errors.push(invalid(at, value, text))
  }
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale
  const specPath = path.child('scale.specReplicasPath')
  if (specReplicasPath === '') errors.push(required(specPath))
  else check(specPath, specReplicasPath, ['.spec.'], 'should be a json path under .spec')
  const statusPath = path.child('scale.statusReplicasPath')
  if (statusReplicasPath === '') errors.push(required(statusPath))
  else check(statusPath, statusReplicasPath, ['.status.'], 'should be a json path under .status')
  if (labelSelectorPath === '') return
  const text = 'should be a json path under either .spec or .status'
  check(path.child('scale.labelSelectorPath'), labelSelectorPath, ['.spec.', '.status.'], text)
}

function validateSimplePath(value: string, path: FieldPath, errors: FieldError[]): boolean {
  if (value.startsWith('.')) return true
  errors.push(invalid(path, value, 'must be a simple json path starting with .'))
  return false
}
