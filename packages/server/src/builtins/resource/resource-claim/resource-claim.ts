import { nameIsDNSSubdomain } from '@kubewright/base'
import type { ResourceClaim } from '@kubewright/k8s'
import { type FieldError, forbidden, validateAnnotations, validateLabels } from '@kubewright/schema'
import { goShown } from '../../../codec/json/go-value.ts'
import type { MutableMeta, MutableObject } from '../../../resource/object.ts'
import { type StrategyWithStatus, withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { ageColumn, defineTable, type Loose, nameAndAgeTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { checkImmutable, part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { type AllowsAdminAccess, checkAdminRequests, checkAdminResults, namespaceLabels } from './admin-access.ts'
import { type ClaimStatus, prepareClaimStatus, validateClaimStatus } from './validate-claim-status.ts'
import {
  type DeviceClaim,
  defaultDeviceClaim,
  dropDisabledClaimFields,
  validateDeviceClaim,
} from './validate-device-claim.ts'

interface ClaimSpec {
  devices?: DeviceClaim | undefined
}

interface TemplateSpec {
  metadata?: MutableMeta | undefined
  spec?: ClaimSpec | undefined
}

/** ResourceClaims (pkg/registry/resource/resourceclaim). */
export const resourceClaims: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  table: defineTable<ResourceClaim>([
    nameColumn,
    textColumn('State', 'State of the allocation.', stateText),
    ageColumn,
  ]),
  ...claimStrategies(undefined),
  withServer: (server) => claimStrategies(namespaceLabels(server)),
})

function claimStrategies(allows: AllowsAdminAccess | undefined): StrategyWithStatus {
  return withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      metadataOnUpdate: ['create', 'update'],
      setDefaults: (object) => defaultDeviceClaim(part<ClaimSpec>(object, 'spec').devices),
      prepareForCreate: (object) => dropDisabledClaimFields(part<ClaimSpec>(object, 'spec').devices),
      prepareForUpdate: (object) => dropDisabledClaimFields(part<ClaimSpec>(object, 'spec').devices),
      validate: async (object, { namespace }) => {
        const { devices = {} } = part<ClaimSpec>(object, 'spec')
        const errors = await checkAdminRequests(devices, namespace, allows)
        validateDeviceClaim(devices, specPath.child('devices'), errors)
        return errors
      },
      validateUpdate: (object, old) => keepsSpec(object, old, 'ResourceClaimSpec'),
    },
    {
      hasTable: false,
      resets: ['metadata', 'spec'],
      prepareForUpdate: (object, old) => {
        resetForStatus(object, old)
        prepareClaimStatus(object, old)
      },
      validateUpdate: async (object, old, { namespace }) => {
        const [next, before] = [part<ClaimStatus>(object, 'status'), part<ClaimStatus>(old, 'status')]
        return [
          ...(await checkAdminResults(next.allocation, before.allocation, namespace, allows)),
          ...validateClaimStatus(object, old),
        ]
      },
    },
  )
}

/** ResourceClaimTemplates (pkg/registry/resource/resourceclaimtemplate). */
export const resourceClaimTemplates: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  table: nameAndAgeTable,
  strategy: templateStrategy(undefined),
  withServer: (server) => ({ strategy: templateStrategy(namespaceLabels(server)) }),
})

function templateStrategy(allows: AllowsAdminAccess | undefined): Strategy {
  return {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['create', 'update'],
    setDefaults: (object) => defaultDeviceClaim(part<TemplateSpec>(object, 'spec').spec?.devices),
    prepareForCreate: (object) => dropDisabledClaimFields(part<TemplateSpec>(object, 'spec').spec?.devices),
    prepareForUpdate: (object) => dropDisabledClaimFields(part<TemplateSpec>(object, 'spec').spec?.devices),
    validate: async (object, { namespace }) => [
      ...(await checkAdminRequests(part<TemplateSpec>(object, 'spec').spec?.devices ?? {}, namespace, allows)),
      ...validateTemplate(object),
    ],
    validateUpdate: (object, old) => [
      ...validateTemplate(object),
      ...keepsSpec(object, old, 'ResourceClaimTemplateSpec'),
    ],
  }
}

function validateTemplate(object: MutableObject): FieldError[] {
  const { metadata = {}, spec } = part<TemplateSpec>(object, 'spec')
  const metaPath = specPath.child('metadata')
  const errors = [
    ...validateAnnotations(metadata.annotations, metaPath.child('annotations')),
    ...validateLabels(metadata.labels, metaPath.child('labels')),
    ...forbiddenMetadata
      .filter((field) => isSet(metadata[field]))
      // Go derives the name from that of the Go field, UID.
      .map((field) => forbidden(metaPath.child(field === 'uid' ? 'uID' : field), 'cannot be set')),
  ]
  validateDeviceClaim(spec?.devices ?? {}, specPath.child('spec', 'devices'), errors)
  return errors
}

/** The fields of metadata that a template must not set, in the order of the Go struct. */
const forbiddenMetadata = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 0
}

function keepsSpec(object: MutableObject, old: MutableObject, type: string): FieldError[] {
  const errors: FieldError[] = []
  checkImmutable(errors, specPath, object['spec'], old['spec'], goShown(type, part(object, 'spec')))
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
