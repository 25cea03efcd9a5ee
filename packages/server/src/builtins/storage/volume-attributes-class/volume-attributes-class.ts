import { deepEqual, nameIsDNSSubdomain } from '@kubewright/base'
import type { VolumeAttributesClass } from '@kubewright/k8s'
import { type FieldError, FieldPath, forbidden } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { checkProvisioner } from '../storage-class/storage-class.ts'
import { validateParameters } from '../validate-parameters.ts'

/** VolumeAttributesClasses (pkg/registry/storage/volumeattributesclass). */
export const volumeAttributesClasses: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
  table: defineTable<VolumeAttributesClass>([
    nameColumn,
    textColumn('DriverName', 'CSI driver of the volumes.', ({ driverName }) => driverName ?? ''),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    validate: validateClass,
    validateUpdate: (object, old) => {
      const errors: FieldError[] = []
      for (const field of ['driverName', 'parameters']) {
        if (deepEqual(object[field], old[field])) continue
        errors.push(forbidden(FieldPath.of(field), `updates to ${field} are forbidden.`))
      }
      return [...errors, ...validateClass(object)]
    },
  },
})

function validateClass(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { driverName = '', parameters } = object as {
    driverName?: string | undefined
    parameters?: Record<string, string> | undefined
  }
  checkProvisioner(errors, FieldPath.of('driverName'), driverName)
  validateParameters(parameters ?? {}, false, errors)
  return errors
}
