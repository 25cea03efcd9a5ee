import { nameIsDNSSubdomain } from '@kubewright/base'
import type { CSINode } from '@kubewright/k8s'
import type * as storage from '@kubewright/k8s/storage/v1'
import { duplicate, type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, integerColumn, nameColumn } from '../../../table/columns.ts'
import { checkCsiDriverName, checkNonNegative, checkQualifiedName } from '../../checks/field-checks.ts'
import { checkImmutable, isTooLong, part, specPath, structValue } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<storage.CSINodeSpec>
type Driver = Unchecked<storage.CSINodeDriver>

const maxNodeId = 256
const driversPath = specPath.child('drivers')

/** CSINodes (pkg/registry/storage/csinode). */
export const csiNodes: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  table: defineTable<CSINode>([
    nameColumn,
    integerColumn('Drivers', 'Number of CSI drivers on the node.', ({ spec }) => spec?.drivers?.length ?? 0),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    // As in kube-apiserver: an update runs the checks of a create twice.
    metadataOnUpdate: ['create', 'create'],
    allowUnconditionalUpdate: false,
    validate: validateNode,
    validateUpdate: (object, old) => {
      const errors = [...validateNode(object), ...validateNode(object)]
      for (const before of part<Spec>(old, 'spec').drivers ?? []) {
        for (const driver of part<Spec>(object, 'spec').drivers ?? []) {
          if (driver.name !== before.name) continue
          const [fixed, wasFixed] = [fixedPart(driver), fixedPart(before)]
          checkImmutable(errors, driversPath, fixed, wasFixed, structValue(fixed))
        }
      }
      return errors
    },
  },
})

/** The immutable part of a driver, in the form that errors show. Only the number of volumes may change. */
function fixedPart({ name = '', nodeID = '', topologyKeys }: Driver): object {
  return { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null }
}

function validateNode(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, driver] of (part<Spec>(object, 'spec').drivers ?? []).entries()) {
    validateDriver(driver, names, driversPath.index(i), errors)
  }
  return errors
}

function validateDriver(driver: Driver, names: Set<string>, path: FieldPath, errors: FieldError[]): void {
  const { name = '', nodeID = '', topologyKeys = [] } = driver
  checkCsiDriverName(errors, path.child('name'), name)
  if (nodeID === '') errors.push(required(path.child('nodeID')))
  if (isTooLong(nodeID, maxNodeId)) {
    errors.push(invalid(path.child('nodeID'), nodeID, `must be ${maxNodeId} characters or less`))
  }
  checkNonNegative(errors, path.child('allocatable', 'count'), driver.allocatable?.count)
  if (names.has(name)) errors.push(duplicate(path.child('name'), name))
  names.add(name)
  const seen = new Set<string>()
  for (const key of topologyKeys) {
    if (key === '') errors.push(required(path))
    if (seen.has(key)) errors.push(duplicate(path, key))
    seen.add(key)
    checkQualifiedName(errors, path, key)
  }
}
