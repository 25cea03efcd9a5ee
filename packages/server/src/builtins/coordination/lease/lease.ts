import { nameIsDNSSubdomain } from '@kubewright/base'
import type { Lease } from '@kubewright/k8s'
import type * as coordination from '@kubewright/k8s/coordination/v1'
import { type FieldError, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<coordination.LeaseSpec>

/** Leases (pkg/registry/coordination/lease). */
export const leases: BuiltinDefinition = defineBuiltin({
  group: 'coordination.k8s.io',
  resource: 'leases',
  table: defineTable<Lease>([
    nameColumn,
    textColumn('Holder', 'Identity of the holder.', ({ spec }) => spec?.holderIdentity ?? ''),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    anyFinalizer: true,
    metadataOnUpdate: ['update'],
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => dropCoordination(object, undefined),
    prepareForUpdate: dropCoordination,
    validate: (object) => validateSpec(part<Spec>(object, 'spec')),
    validateUpdate: (object) => validateSpec(part<Spec>(object, 'spec')),
  },
})

/** Drops fields whose feature gate is off by default. An object that already has them keeps them. */
function dropCoordination(object: MutableObject, old: MutableObject | undefined): void {
  const spec = part<Spec>(object, 'spec')
  const before = old ? part<Spec>(old, 'spec') : {}
  for (const field of ['strategy', 'preferredHolder'] as const) {
    if (before[field] === undefined) delete spec[field]
  }
}

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  const duration = spec.leaseDurationSeconds
  if (duration !== undefined && duration <= 0) {
    errors.push(invalid(specPath.child('leaseDurationSeconds'), duration, 'must be greater than 0'))
  }
  checkNonNegative(errors, specPath.child('leaseTransitions'), spec.leaseTransitions)
  return errors
}
