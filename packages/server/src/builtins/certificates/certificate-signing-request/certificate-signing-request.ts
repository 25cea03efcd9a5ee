import { FieldSet, fieldSetPath, newForbidden } from '@kubewright/api'
import { deepCopy, deepEqual, formatRFC3339, goQuote, instantFromMillis } from '@kubewright/base'
import { parseCertificateRequest } from '@kubewright/base/pki'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../admission/admission.ts'
import { type Authorizer, resourceAttributes } from '../../../auth/authorizer.ts'
import type { UserInfo } from '../../../request/user-info.ts'
import { mastersGroup } from '../../../request/user-info.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import { userFields } from '../../authentication/authentication-reviews.ts'
import type { BuiltinTable } from '../../builtin-resources.ts'
import {
  partsOf,
  type RequestCondition,
  requestPem,
  validateSigningRequest,
  validateSigningRequestUpdate,
} from './validate-certificate-signing-request.ts'

const group = 'certificates.k8s.io'
const plural = 'certificatesigningrequests'
const apiServerClientSigner = 'kubernetes.io/kube-apiserver-client'

/** CertificateSigningRequest with its status and approval. */
export function certificateSigningRequests(): BuiltinTable {
  return {
    [`${group}/${plural}`]: {
      strategy,
      subresources: { status: endpoint(statusStrategy), approval: endpoint(approvalStrategy) },
      selectableFields: { 'spec.signerName': (object) => partsOf(object).spec.signerName ?? '' },
      unknownField: (label) => `field label not supported: ${label}`,
    },
  }
}

function endpoint(own: Strategy): Subresource {
  return { verbs: ['get', 'patch', 'update'], strategy: own }
}

const resets = (...path: [string, ...string[]]): FieldSet => FieldSet.of(fieldSetPath('spec'), fieldSetPath(...path))
/** Requests may have any name. */
const anyName = (): readonly string[] => []

const strategy: Strategy = {
  validateName: anyName,
  prepareForCreate: (object, { request }) => {
    const { username: _n, uid: _u, groups: _g, extra: _e, ...asked } = (object['spec'] ?? {}) as Record<string, unknown>
    // Who asks is what the server knows, not what the request says.
    object['spec'] = { ...asked, ...userFields(request.user) }
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

/** Writing the status must not touch decisions; if it adds or drops one, the check that follows says so. */
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

/** Lets only those approve and sign who may do so for the signer, and nobody become an administrator by a certificate. */
export function certificateAdmission(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigningRequests',
    validate: async (attributes) => {
      const { resource, subresource, operation, old, object, context } = attributes
      if (resource.kind.group !== group || resource.kind.plural !== plural || !object) return
      if (subresource === '' && operation === 'CREATE') restrictSubject(attributes, object)
      if (!old) return
      const signer = partsOf(old).spec.signerName ?? ''
      const verb =
        subresource === 'approval'
          ? 'approve'
          : subresource === 'status' && statusChanged(object, old)
            ? 'sign'
            : undefined
      if (verb === undefined || (await mayUseSigner(authorizer, context.user, verb, signer))) return
      throw refusal(attributes, `user not permitted to ${verb} requests with signerName ${goQuote(signer)}`)
    },
  }
}

function statusChanged(object: MutableObject, old: MutableObject): boolean {
  const [now, before] = [partsOf(object).status, partsOf(old).status]
  return now.certificate !== before.certificate || !deepEqual(now.conditions ?? [], before.conditions ?? [])
}

function restrictSubject(attributes: AdmissionAttributes, object: MutableObject): void {
  const parts = partsOf(object)
  if (parts.spec.signerName !== apiServerClientSigner) return
  let organizations: readonly string[]
  try {
    organizations = parseCertificateRequest(requestPem(parts)).organizations
  } catch (error) {
    throw refusal(attributes, `failed to parse CSR: ${(error as Error).message}`)
  }
  if (!organizations.includes(mastersGroup)) return
  throw refusal(attributes, `use of ${apiServerClientSigner} signer with system:masters group is not allowed`)
}

function refusal({ name }: AdmissionAttributes, why: string): Error {
  return newForbidden({ group, resource: plural }, name, why)
}

/** For the signer itself, or for all signers of its domain. */
async function mayUseSigner(authorizer: Authorizer, user: UserInfo, verb: string, signer: string): Promise<boolean> {
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const decision = await authorizer.authorize(resourceAttributes(user, { verb, group, resource: 'signers', name }))
    if (decision.allowed) return true
  }
  return false
}
