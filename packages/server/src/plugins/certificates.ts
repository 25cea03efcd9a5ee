import { newForbidden } from '@kubewright/api'
import { deepEqual, goQuote } from '@kubewright/base'
import { parseCertificateRequest } from '@kubewright/base/pki'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { type Authorizer, resourceAttributes } from '../auth/authorizer.ts'
import {
  partsOf,
  requestPem,
} from '../builtins/certificates/certificate-signing-request/validate-certificate-signing-request.ts'
import { mastersGroup } from '../request/user-info.ts'
import type { MutableObject } from '../resource/object.ts'

const group = 'certificates.k8s.io'
const plural = 'certificatesigningrequests'
const signingRequests = [`${group}/${plural}`]
const apiServerClientSigner = 'kubernetes.io/kube-apiserver-client'

/** Lets only users approve certificate signing requests who have the verb approve on the signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    resources: signingRequests,
    validate: async (attributes) => {
      if (!isSigningRequest(attributes) || attributes.subresource !== 'approval') return
      await checkSigner(authorizer, attributes, 'approve')
    },
  }
}

/** Lets only users issue certificates who have the verb sign on the signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    resources: signingRequests,
    validate: async (attributes) => {
      const { subresource, object, old } = attributes
      if (!isSigningRequest(attributes) || subresource !== 'status') return
      if (object && old && statusChanged(object, old)) await checkSigner(authorizer, attributes, 'sign')
    },
  }
}

/** Rejects signing requests for client certificates of the group system:masters. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  resources: signingRequests,
  validate: async (attributes) => {
    const { subresource, operation, object } = attributes
    if (!isSigningRequest(attributes) || subresource !== '' || operation !== 'CREATE' || !object) return
    const parts = partsOf(object)
    if (parts.spec.signerName !== apiServerClientSigner) return
    let organizations: readonly string[]
    try {
      organizations = parseCertificateRequest(requestPem(parts)).organizations
    } catch (error) {
      throw rejection(attributes, `failed to parse CSR: ${(error as Error).message}`)
    }
    if (!organizations.includes(mastersGroup)) return
    throw rejection(attributes, `use of ${apiServerClientSigner} signer with system:masters group is not allowed`)
  },
}

function isSigningRequest({ resource }: AdmissionAttributes): boolean {
  return resource.kind.group === group && resource.kind.plural === plural
}

function statusChanged(object: MutableObject, old: MutableObject): boolean {
  const [now, before] = [partsOf(object).status, partsOf(old).status]
  return now.certificate !== before.certificate || !deepEqual(now.conditions ?? [], before.conditions ?? [])
}

/** Throws 403 unless the user has the verb on the signer of the stored request, or on all signers of its domain. */
async function checkSigner(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  verb: 'approve' | 'sign',
): Promise<void> {
  const { object, old, context } = attributes
  if (!object || !old) return
  const signer = partsOf(old).spec.signerName ?? ''
  for (const name of [signer, `${signer.split('/')[0]}/*`]) {
    const about = { verb, group, resource: 'signers', name }
    const decision = await authorizer.authorize(resourceAttributes(context.user, about))
    if (decision.allowed) return
  }
  throw rejection(attributes, `user not permitted to ${verb} requests with signerName ${goQuote(signer)}`)
}

function rejection({ name }: AdmissionAttributes, why: string): Error {
  return newForbidden({ group, resource: plural }, name, why)
}
