import { parseJson } from '@kubewright/api'
import { deepEqual, isConfigMapKey, nameIsDNSSubdomain } from '@kubewright/base'
import type { Secret } from '@kubewright/k8s'
import { type FieldError, FieldPath, forbidden, invalid, required, tooLong } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { base64Length } from '../../checks/base64-length.ts'
import { addInvalid, namedString } from '../../checks/field-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { immutableText, maxDataBytes } from '../config-map/config-map.ts'
import { tlsPairProblem } from './tls-pair.ts'

const dataPath = FieldPath.of('data')
const accountKey = 'kubernetes.io/service-account.name'

function dataOf(secret: MutableObject): Record<string, string> {
  return (secret['data'] ?? {}) as Record<string, string>
}

/** Encodes `stringData` into `data`, where it overwrites entries, and removes it. */
function setDefaults(secret: MutableObject): void {
  secret['type'] ||= 'Opaque'
  const strings = secret['stringData'] as Record<string, string> | undefined
  if (!strings) return
  const data = { ...dataOf(secret) }
  for (const [key, text] of Object.entries(strings)) data[key] = Buffer.from(text).toString('base64')
  if (Object.keys(data).length > 0) secret['data'] = data
  delete secret['stringData']
}

function validate(secret: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const data = dataOf(secret)
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    addInvalid(errors, dataPath.key(key), key, isConfigMapKey(key))
    size += base64Length(value)
  }
  if (size > maxDataBytes) errors.push(tooLong(dataPath, maxDataBytes))
  switch (secret['type']) {
    case 'kubernetes.io/service-account-token':
      if (!secret.metadata.annotations?.[accountKey]) {
        errors.push(required(FieldPath.of('metadata', 'annotations').key(accountKey)))
      }
      break
    case 'kubernetes.io/dockercfg':
      checkJson(data, '.dockercfg', errors)
      break
    case 'kubernetes.io/dockerconfigjson':
      checkJson(data, '.dockerconfigjson', errors)
      break
    case 'kubernetes.io/basic-auth':
      if (data['username'] === undefined && data['password'] === undefined) {
        errors.push(required(dataPath.key('username')), required(dataPath.key('password')))
      }
      break
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) errors.push(required(dataPath.key('ssh-privatekey')))
      break
    case 'kubernetes.io/tls':
      for (const key of ['tls.crt', 'tls.key']) if (data[key] === undefined) errors.push(required(dataPath.key(key)))
  }
  return errors
}

function checkJson(data: Readonly<Record<string, string>>, key: string, errors: FieldError[]): void {
  const text = data[key]
  if (text === undefined) {
    errors.push(required(dataPath.key(key)))
    return
  }
  const problem = jsonObjectProblem(Buffer.from(text, 'base64'))
  if (problem) errors.push(invalid(dataPath.key(key), '<secret contents redacted>', problem))
}

/** Returns Go's error message for bytes that are no JSON object; undefined for a JSON object. */
function jsonObjectProblem(bytes: Uint8Array): string | undefined {
  let value: unknown
  try {
    value = parseJson(bytes)
  } catch (error) {
    return (error as Error).message
  }
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
}

function validateUpdate(secret: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  if (secret['type'] !== old['type']) {
    errors.push(invalid(FieldPath.of('type'), namedString(String(secret['type'] ?? '')), 'field is immutable'))
  }
  if (old['immutable'] === true) {
    if (secret['immutable'] !== true) errors.push(forbidden(FieldPath.of('immutable'), immutableText))
    if (!deepEqual(secret['data'], old['data'])) errors.push(forbidden(dataPath, immutableText))
  }
  return [...errors, ...validate(secret)]
}

function warnings(secret: MutableObject): string[] {
  if (secret['type'] !== 'kubernetes.io/tls') return []
  const data = dataOf(secret)
  const bytes = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('latin1')
  const problem = tlsPairProblem(bytes('tls.crt'), bytes('tls.key'))
  return problem ? [problem] : []
}

/** Secrets (pkg/registry/core/secret). */
export const secrets: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'secrets',
  table: defineTable<Secret>([
    nameColumn,
    textColumn('Type', 'Type of the data.', ({ type }) => type ?? ''),
    textColumn('Data', 'Number of entries.', ({ data }) => Object.keys(data ?? {}).length),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    setDefaults,
    validate,
    validateUpdate,
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
  selectableFields: { type: (secret) => String(secret['type'] ?? '') },
  unknownField: (label) => `field label not supported: ${label}`,
})
