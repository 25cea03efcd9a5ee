import { deepEqual, isConfigMapKey, nameIsDNSSubdomain } from '@kubewright/base'
import type { ConfigMap } from '@kubewright/k8s'
import { type FieldError, FieldPath, forbidden, invalid, tooLong } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { base64Length } from '../../checks/base64-length.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

/** The maximum total size of the values of a ConfigMap or a Secret. */
export const maxDataBytes: number = 1024 * 1024
/** The message for a change of an immutable ConfigMap or Secret. */
export const immutableText: string = 'field is immutable when `immutable` is set'

type Data = Readonly<Record<string, string>> | undefined

function validate(map: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const data = (map['data'] as Data) ?? {}
  const binary = (map['binaryData'] as Data) ?? {}
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    const at = FieldPath.of('data').key(key)
    addInvalid(errors, at, key, isConfigMapKey(key))
    if (Object.hasOwn(binary, key)) errors.push(invalid(at, key, 'duplicate of key present in binaryData'))
    size += Buffer.byteLength(value)
  }
  for (const [key, value] of Object.entries(binary)) {
    addInvalid(errors, FieldPath.of('binaryData').key(key), key, isConfigMapKey(key))
    size += base64Length(value)
  }
  // The path is empty because the error concerns the whole object.
  if (size > maxDataBytes) errors.push(tooLong(FieldPath.of(''), maxDataBytes))
  return errors
}

function validateUpdate(map: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  if (old['immutable'] === true) {
    if (map['immutable'] !== true) errors.push(forbidden(FieldPath.of('immutable'), immutableText))
    // An empty map differs from an absent one, except in data, which the defaults fill.
    if (!deepEqual(map['data'] ?? {}, old['data'] ?? {})) errors.push(forbidden(FieldPath.of('data'), immutableText))
    if (!deepEqual(map['binaryData'], old['binaryData'])) {
      errors.push(forbidden(FieldPath.of('binaryData'), immutableText))
    }
  }
  return [...errors, ...validate(map)]
}

/** ConfigMaps (pkg/registry/core/configmap). */
export const configMaps: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'configmaps',
  table: defineTable<ConfigMap>([
    nameColumn,
    textColumn(
      'Data',
      'Number of entries.',
      ({ data, binaryData }) => Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ),
    ageColumn,
  ]),
  strategy: { validateName: nameIsDNSSubdomain, validate, validateUpdate },
})
