import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as resource from '@kubewright/k8s/resource/v1'
import type { FieldError } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { nameAndAgeTable } from '../../../table/columns.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkItems } from '../devices/collections.ts'
import { validateSelectors } from '../devices/device-selectors.ts'
import { maxConfigurations, validateConfiguration } from '../resource-claim/validate-device-claim.ts'

type Spec = Unchecked<resource.DeviceClassSpec>

/** DeviceClasses (pkg/registry/resource/deviceclass). */
export const deviceClasses: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  table: nameAndAgeTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['create', 'update'],
    // The feature gate of the field is off by default. An object that already has the field keeps it.
    prepareForCreate: (object) => void delete part<Spec>(object, 'spec').extendedResourceName,
    prepareForUpdate: (object, old) => {
      if (part<Spec>(old, 'spec').extendedResourceName === undefined) {
        delete part<Spec>(object, 'spec').extendedResourceName
      }
    },
    generation: true,
    validate,
    validateUpdate: validate,
  },
})

function validate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { selectors = [], config = [] } = part<Spec>(object, 'spec')
  validateSelectors(selectors, specPath.child('selectors'), errors)
  checkItems(errors, specPath.child('config'), config, maxConfigurations, (each, path) => {
    validateConfiguration(each, path, errors)
  })
  return errors
}
