import { nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { deprecatedNodeLabel } from '../../checks/node-label-warnings.ts'
import { checkSelector, immutableText, selectorValue, type UncheckedSelector } from '../../checks/strategy-checks.ts'
import { quantityOf } from '../../core/pod/resources/resource-list.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface Capacity {
  nodeTopology?: UncheckedSelector | undefined
  storageClassName?: string | undefined
  capacity?: string | undefined
}

const topologyPath = FieldPath.of('nodeTopology')
const classPath = FieldPath.of('storageClassName')

/** CSIStorageCapacities (pkg/registry/storage/csistoragecapacity). */
export const csiStorageCapacities: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'csistoragecapacities',
  strategy: {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['create', 'update'],
    allowUnconditionalUpdate: false,
    validate: (object) => validateCapacity(object, false),
    validateUpdate: (object, old) => {
      const before: FieldError[] = []
      checkSelector(before, topologyPath, (old as Capacity).nodeTopology)
      const errors = validateCapacity(object, before.length > 0)
      const { nodeTopology, storageClassName = '' } = object as Capacity
      if (!semanticEqual(nodeTopology, (old as Capacity).nodeTopology)) {
        errors.push(invalid(topologyPath, selectorValue(nodeTopology), immutableText))
      }
      if (storageClassName !== ((old as Capacity).storageClassName ?? '')) {
        errors.push(invalid(classPath, storageClassName, immutableText))
      }
      return errors
    },
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
})

function validateCapacity(object: MutableObject, allowInvalidLabelValue: boolean): FieldError[] {
  const errors: FieldError[] = []
  const { nodeTopology, storageClassName = '', capacity } = object as Capacity
  checkSelector(errors, topologyPath, nodeTopology, allowInvalidLabelValue)
  addInvalid(errors, classPath, storageClassName, nameIsDNSSubdomain(storageClassName, false))
  if (capacity !== undefined && quantityOf(capacity).sign < 0) {
    const shown = quantityOf(capacity).toString()
    errors.push(invalid(FieldPath.of('capacity'), shown, 'must be greater than or equal to 0'))
  }
  return errors
}

function warnings(object: MutableObject): string[] {
  const { matchLabels = {}, matchExpressions = [] } = (object as Capacity).nodeTopology ?? {}
  const texts: string[] = []
  for (const [i, { key = '' }] of matchExpressions.entries()) {
    const text = deprecatedNodeLabel(key)
    if (text) texts.push(`${topologyPath.child('matchExpressions').index(i).child('key')}: ${key} is ${text}`)
  }
  for (const key of Object.keys(matchLabels)) {
    const text = deprecatedNodeLabel(key)
    if (text) texts.push(`${topologyPath.child('matchLabels').child(key)}: ${text}`)
  }
  return texts
}
