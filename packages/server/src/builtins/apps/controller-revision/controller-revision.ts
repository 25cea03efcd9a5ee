import { nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, FieldPath, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { checkImmutable } from '../../checks/strategy-checks.ts'

const dataPath = FieldPath.of('data')

/** ControllerRevisions: snapshots that never change (pkg/registry/apps/controllerrevision). */
export const controllerRevisions: BuiltinResource = {
  strategy: {
    validateName: nameIsDNSSubdomain,
    validate: (object) => {
      const errors = validateRevision(object)
      const data = object['data']
      if (data === undefined || data === null) errors.push(required(dataPath, 'data is mandatory'))
      else if (typeof data !== 'object' || Array.isArray(data)) {
        errors.push(required(dataPath, 'data must be a valid JSON object'))
      }
      return errors
    },
    validateUpdate: (object, old) => {
      const errors = validateRevision(object)
      checkImmutable(errors, dataPath, object['data'], old['data'])
      return errors
    },
  },
}

function validateRevision(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, FieldPath.of('revision'), object['revision'] as number | undefined)
  return errors
}
