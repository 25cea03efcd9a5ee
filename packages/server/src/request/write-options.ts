import { newBadRequest, newInvalid, validateFieldManager } from '@kubewright/api'
import { append } from '@kubewright/base'
import { type FieldError, FieldPath, notSupported } from '@kubewright/schema'

/** The options that create, update and patch share. */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
}

/**
 * Reads the options of create, update and patch from the query. Throws an Invalid error of the given kind (CreateOptions, ...) that
 * lists the `preceding` errors first.
 */
export function writeOptions(
  query: URLSearchParams,
  kind: string,
  preceding: readonly FieldError[] = [],
): WriteOptions {
  const errors: FieldError[] = [...preceding]
  const fieldManager = query.get('fieldManager') ?? ''
  append(errors, validateFieldManager(fieldManager, FieldPath.of('fieldManager')))
  const dryRun = query.getAll('dryRun')
  append(errors, validateDryRun(dryRun))
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(notSupported(FieldPath.of('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as WriteOptions['fieldValidation'],
  }
}

/** The options of a write as the API object that admission sees, such as CreateOptions. */
export function optionsObject(kind: string, query: URLSearchParams): Record<string, unknown> {
  const options: Record<string, unknown> = { kind, apiVersion: 'meta.k8s.io/v1' }
  const dryRun = query.getAll('dryRun')
  if (dryRun.length > 0) options['dryRun'] = dryRun
  for (const name of ['fieldManager', 'fieldValidation']) {
    const value = query.get(name)
    if (value) options[name] = value
  }
  return options
}

/** Checks the values of dryRun: only `All` is supported (apimachinery/pkg/apis/meta/v1/validation). */
export function validateDryRun(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return []
  return [notSupported(FieldPath.of('dryRun'), values, ['All'])]
}

/** An optional integer of the query. Throws a BadRequest with the text of Go's strconv for any other value. */
export function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  }
  return value
}
