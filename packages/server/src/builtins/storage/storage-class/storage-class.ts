import { deepEqual, isQualifiedName, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { duplicate, type FieldError, FieldPath, forbidden, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid, checkQualifiedName, unsupported } from '../../checks/field-checks.ts'
import { deprecatedNodeLabel } from '../../checks/node-label-warnings.ts'
import { checkImmutableNamed } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateParameters } from '../validate-parameters.ts'
import { storageClassTable } from './storage-class-table.ts'

/** Equal topology terms make a quadratic number of errors; those after so many are left out. */
const maxTermErrors = 10_000

interface StorageClass {
  provisioner?: string | undefined
  parameters?: Record<string, string> | undefined
  reclaimPolicy?: string | undefined
  volumeBindingMode?: string | undefined
  allowedTopologies?: Unchecked<core.TopologySelectorTerm>[] | null | undefined
}

const modePath = FieldPath.of('volumeBindingMode')
const topologiesPath = FieldPath.of('allowedTopologies')

/** StorageClasses (pkg/registry/storage/storageclass). */
export const storageClasses: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'storageclasses',
  table: storageClassTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['create', 'update'],
    setDefaults: (object) => {
      object['reclaimPolicy'] ??= 'Delete'
      object['volumeBindingMode'] ??= 'Immediate'
    },
    validate: validateClass,
    validateUpdate: (object, old) => {
      const errors = validateClass(object)
      for (const field of ['parameters', 'provisioner', 'reclaimPolicy'] as const) {
        if (deepEqual(object[field], old[field])) continue
        errors.push(forbidden(FieldPath.of(field), `updates to ${field} are forbidden.`))
      }
      checkImmutableNamed(errors, modePath, object['volumeBindingMode'], old['volumeBindingMode'])
      return errors
    },
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
})

/** Checks the name of a provisioner: a qualified name in lower or upper case. */
export function checkProvisioner(errors: FieldError[], path: FieldPath, name: string): void {
  if (name === '') errors.push(required(path))
  else addInvalid(errors, path, name.toLowerCase(), isQualifiedName(name.toLowerCase()))
}

function validateClass(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { provisioner = '', parameters, reclaimPolicy, volumeBindingMode, allowedTopologies } = object as StorageClass
  checkProvisioner(errors, FieldPath.of('provisioner'), provisioner)
  validateParameters(parameters ?? {}, true, errors)
  if (reclaimPolicy && !['Delete', 'Retain'].includes(reclaimPolicy)) {
    errors.push(unsupported(FieldPath.of('reclaimPolicy'), reclaimPolicy, ['Delete', 'Retain']))
  }
  const modes = ['Immediate', 'WaitForFirstConsumer']
  if (volumeBindingMode === undefined) errors.push(required(modePath))
  else if (!modes.includes(volumeBindingMode)) errors.push(unsupported(modePath, volumeBindingMode, modes))
  validateTopologies(allowedTopologies ?? [], errors)
  return errors
}

function validateTopologies(terms: NonNullable<StorageClass['allowedTopologies']>, errors: FieldError[]): void {
  /** The number of earlier terms with the same values, by their JSON. */
  const seen = new Map<string, number>()
  for (const [i, { matchLabelExpressions = [] }] of terms.entries()) {
    const path = topologiesPath.index(i).child('matchLabelExpressions')
    const values: Record<string, readonly string[]> = {}
    for (const [k, expression] of matchLabelExpressions.entries()) {
      const { key = '', values: wanted = [] } = expression
      const at = path.index(k)
      if (wanted.length === 0) errors.push(required(at.child('values')))
      const distinct = new Set<string>()
      for (const [n, value] of wanted.entries()) {
        if (distinct.has(value)) errors.push(duplicate(at.child('values').index(n), value))
        distinct.add(value)
      }
      checkQualifiedName(errors, at.child('key'), key)
      if (Object.hasOwn(values, key)) errors.push(duplicate(at.child('key'), key))
      values[key] = [...distinct].sort()
    }
    // As in kube-apiserver: each equal term is reported, and an empty term equals every term of a list of that length.
    const places = Object.keys(values).length === 0 ? terms.length : 0
    const text = JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
    const earlier = seen.get(text) ?? 0
    for (let n = 0; n < places + earlier && errors.length < maxTermErrors; n++) errors.push(duplicate(path, ''))
    seen.set(text, earlier + 1)
  }
}

function warnings(object: MutableObject): string[] {
  return ((object as StorageClass).allowedTopologies ?? []).flatMap(({ matchLabelExpressions = [] }, i) =>
    matchLabelExpressions.flatMap(({ key = '' }, k) => {
      const text = deprecatedNodeLabel(key)
      if (text === undefined) return []
      return [`${topologiesPath.index(i).child('matchLabelExpressions').index(k).child('key')}: ${text}`]
    }),
  )
}
