import { FieldSet, fieldSetPath } from '@kubewright/api'
import { deepCopy, formatRFC3339, instantFromMillis } from '@kubewright/base'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import { userFields } from '../../authentication/user-fields.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { certificateSigningRequestTable } from './certificate-signing-request-table.ts'
import {
  partsOf,
  type RequestCondition,
  validateSigningRequest,
  validateSigningRequestUpdate,
} from './validate-certificate-signing-request.ts'

function endpoint(own: Strategy): Subresource {
  return { verbs: ['get', 'patch', 'update'], strategy: own }
}

const resets = (...path: [string, ...string[]]): FieldSet => FieldSet.of(fieldSetPath('spec'), fieldSetPath(...path))
/** Accepts any name. */
const anyName = (): readonly string[] => []

const strategy: Strategy = {
  validateName: anyName,
  prepareForCreate: (object, { request }) => {
    const {
      username: _n,
      uid: _u,
      groups: _g,
      extra: _e,
      ...requested
    } = (object['spec'] ?? {}) as Record<string, unknown>
    // The server sets the requesting user. The client cannot choose it.
    object['spec'] = { ...requested, ...userFields(request.user) }
    object['status'] = {}
  },
  prepareForUpdate: (object, old) => {
    object['spec'] = deepCopy(old['spec'])
    object['status'] = deepCopy(old['status'])
  },
  validate: (object) => validateSigningRequest(object),
  validateUpdate: (object, old) => [
    ...validateSigningRequest(object, old),
    ...validateSigningRequestUpdate(object, old, {}),
  ],
  resetFields: resets('status'),
}

const statusStrategy: Strategy = {
  validateName: anyName,
  prepareForUpdate: (object, old, { now }) => {
    object['spec'] = deepCopy(old['spec'])
    keepDecisions(object, old)
    fillTimes(object, old, now)
  },
  validateUpdate: (object, old) => [
    ...validateSigningRequest(object, old),
    ...validateSigningRequestUpdate(object, old, { certificate: true }),
  ],
  resetFields: resets('status', 'conditions'),
}

const approvalStrategy: Strategy = {
  validateName: anyName,
  prepareForUpdate: (object, old, { now }) => {
    fillTimes(object, old, now)
    const { conditions } = partsOf(object).status
    object['spec'] = deepCopy(old['spec'])
    const { conditions: _, ...others } = partsOf(deepCopy(old)).status
    object['status'] = { ...others, ...(conditions ? { conditions } : {}) }
  },
  validateUpdate: (object, old) => [
    ...validateSigningRequest(object, old),
    ...validateSigningRequestUpdate(object, old, { approval: true }),
  ],
  resetFields: resets('status', 'certificate'),
}

/** CertificateSigningRequests (pkg/registry/certificates/certificates). */
export const certificateSigningRequests: BuiltinDefinition = defineBuiltin({
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
  table: certificateSigningRequestTable,
  strategy,
  subresources: { status: endpoint(statusStrategy), approval: { ...endpoint(approvalStrategy), hasTable: false } },
  selectableFields: { 'spec.signerName': (object) => partsOf(object).spec.signerName ?? '' },
  unknownField: (label) => `field label not supported: ${label}`,
})

/** Restores the approval and denial conditions. If a status update adds or removes one, validation rejects it. */
function keepDecisions(object: MutableObject, old: MutableObject): void {
  const conditions = [...(partsOf(object).status.conditions ?? [])]
  const before = partsOf(old).status.conditions ?? []
  for (const type of ['Approved', 'Denied']) {
    const [now, then] = [conditions, before].map((list) => [...list.keys()].filter((i) => list[i]!.type === type))
    if (now!.length !== then!.length) continue
    for (const [i, at] of now!.entries()) conditions[at] = deepCopy(before[then![i]!]!)
  }
  if (conditions.length > 0) object['status'] = { ...partsOf(object).status, conditions }
}

function fillTimes(object: MutableObject, old: MutableObject, now: number): void {
  const time = formatRFC3339(instantFromMillis(now))
  const before = partsOf(old).status.conditions ?? []
  for (const condition of (partsOf(object).status.conditions ?? []) as RequestCondition[]) {
    condition.lastUpdateTime ||= time
    const same = before.find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && lastTransitionTime,
    )
    condition.lastTransitionTime ||= same?.lastTransitionTime ?? time
  }
}
