import { nameIsDNSSubdomain } from '@kubewright/base'
import type { ResourceClaim } from '@kubewright/k8s'
import type * as resource from '@kubewright/k8s/resource/v1'
import {
  duplicate,
  type FieldError,
  forbidden,
  required,
  tooMany,
  validateAnnotations,
  validateLabels,
} from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, type Loose, nameAndAgeTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { checkImmutable, part, specPath, statusPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import {
  type DeviceClaim,
  defaultDeviceClaim,
  dropDisabledClaimFields,
  validateDeviceClaim,
} from './validate-device-claim.ts'

interface ClaimSpec {
  devices?: DeviceClaim
}

interface TemplateSpec {
  metadata?: MutableMeta
  spec?: ClaimSpec
}

type Status = Unchecked<resource.ResourceClaimStatus>

const maxReservedFor = 256

/** ResourceClaims (pkg/registry/resource/resourceclaim). */
export const resourceClaims: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  table: defineTable<ResourceClaim>([
    nameColumn,
    textColumn('State', 'State of the allocation.', stateText),
    ageColumn,
  ]),
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      metadataOnUpdate: ['create', 'update'],
      setDefaults: (object) => defaultDeviceClaim(part<ClaimSpec>(object, 'spec').devices),
      prepareForCreate: (object) => dropDisabledClaimFields(part<ClaimSpec>(object, 'spec').devices),
      prepareForUpdate: (object) => dropDisabledClaimFields(part<ClaimSpec>(object, 'spec').devices),
      validate: (object) => {
        const errors: FieldError[] = []
        validateDeviceClaim(part<ClaimSpec>(object, 'spec').devices ?? {}, specPath.child('devices'), errors)
        return errors
      },
      validateUpdate: keepsSpec,
    },
    { resets: ['metadata', 'spec'], prepareForUpdate: resetForStatus, validateUpdate: validateStatusUpdate },
  ),
})

/** ResourceClaimTemplates (pkg/registry/resource/resourceclaimtemplate). */
export const resourceClaimTemplates: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  table: nameAndAgeTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['create', 'update'],
    setDefaults: (object) => defaultDeviceClaim(part<TemplateSpec>(object, 'spec').spec?.devices),
    prepareForCreate: (object) => dropDisabledClaimFields(part<TemplateSpec>(object, 'spec').spec?.devices),
    prepareForUpdate: (object) => dropDisabledClaimFields(part<TemplateSpec>(object, 'spec').spec?.devices),
    validate: validateTemplate,
    validateUpdate: (object, old) => [...validateTemplate(object), ...keepsSpec(object, old)],
  },
})

function validateTemplate(object: MutableObject): FieldError[] {
  const { metadata, spec } = part<TemplateSpec>(object, 'spec')
  const metaPath = specPath.child('metadata')
  const errors = [
    ...validateAnnotations(metadata?.annotations, metaPath.child('annotations')),
    ...validateLabels(metadata?.labels, metaPath.child('labels')),
  ]
  validateDeviceClaim(spec?.devices ?? {}, specPath.child('spec', 'devices'), errors)
  return errors
}

function keepsSpec(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkImmutable(errors, specPath, object['spec'], old['spec'])
  return errors
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const [status, before] = [part<Status>(object, 'status'), part<Status>(old, 'status')]
  const { reservedFor = [], allocation } = status
  const path = statusPath.child('reservedFor')
  if (reservedFor.length > maxReservedFor) errors.push(tooMany(path, reservedFor.length, maxReservedFor))
  else {
    const seen = new Set<string>()
    for (const [i, reference] of reservedFor.entries()) {
      for (const field of ['resource', 'name', 'uid'] as const) {
        if (!reference[field]) errors.push(required(path.index(i).child(field)))
      }
    }
    for (const [i, { uid = '' }] of reservedFor.entries()) {
      if (seen.has(uid)) errors.push(duplicate(path.index(i), uid))
      seen.add(uid)
    }
  }
  if (reservedFor.length > 0) {
    const known = new Set((before.reservedFor ?? []).map((reference) => JSON.stringify(reference)))
    if (!allocation) errors.push(forbidden(path, 'may not be specified when `allocated` is not set'))
    else if (object.metadata.deletionTimestamp && reservedFor.some((each) => !known.has(JSON.stringify(each)))) {
      const text = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
      errors.push(forbidden(path, text))
    }
  }
  if (allocation && before.allocation) {
    checkImmutable(errors, statusPath.child('allocation'), allocation, before.allocation)
  }
  return errors
}

function stateText({ metadata, status }: Loose<ResourceClaim>): string {
  const deleted = Boolean(metadata?.deletionTimestamp)
  const states = deleted ? ['deleted'] : []
  if (status?.allocation) states.push('allocated')
  if (status?.allocation && status.reservedFor?.length) states.push('reserved')
  else if (!deleted) states.push('pending')
  return states.join(',')
}
