import { fromTime, isNotFound, toTime } from '@kubewright/api'
import { type ExtendedKeyUsage, parseCertificateRequest } from '@kubewright/base/pki'
import { CertificateSigningRequest, SubjectAccessReview } from '@kubewright/k8s'
import { type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltin } from '../workload/define-builtin.ts'
import type { ClusterTrust } from './cluster-trust.ts'
import { hasCondition, kubeletClientRefusal, refusal, signerNames } from './request-rules.ts'

type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number]

const hour = 60 * 60_000
const day = 24 * hour

const isDecided = (request: CertificateSigningRequest): boolean =>
  hasCondition(request, 'Approved') || hasCondition(request, 'Denied')

const pemOf = ({ spec }: CertificateSigningRequest): string => Buffer.from(spec.request, 'base64').toString()

const withCondition = (request: CertificateSigningRequest, condition: Condition): CertificateSigningRequest => ({
  ...request,
  status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] },
})

/** Approves the requests of kubelets for client certificates, where RBAC lets them have one. */
export const signingRequestApprover: KeyController = /* @__PURE__ */ defineBuiltin({
  name: 'certificatesigningrequest-approving-controller',
  kind: CertificateSigningRequest,
  sources: [kindSource(CertificateSigningRequest)],
  start:
    ({ clock }) =>
    async (name, { client }) => {
      const request = await client.find(CertificateSigningRequest, name)
      if (request === undefined || (request.status?.certificate ?? '') !== '' || isDecided(request)) return
      const { signerName, usages = [], username = '' } = request.spec
      if (signerName !== signerNames.kubeletClient) return
      const parsed = parseCertificateRequest(pemOf(request))
      if (kubeletClientRefusal(parsed, usages) !== undefined) return
      const self = parsed.commonName === username
      for (const subresource of self ? ['selfnodeclient', 'nodeclient'] : ['nodeclient']) {
        if (!(await mayHave(request, subresource, client))) continue
        const whose = subresource === 'selfnodeclient' ? 'self kubelet' : 'kubelet'
        const approved = withCondition(request, {
          type: 'Approved',
          status: 'True',
          reason: 'AutoApproved',
          message: `Auto approving ${whose} client certificate after SubjectAccessReview.`,
          lastUpdateTime: toTime(clock.now()),
        })
        await client.subresource(CertificateSigningRequest, 'approval').update(approved)
        return
      }
    },
})

async function mayHave(
  { spec: { username = '', uid = '', groups = [], extra = {} } }: CertificateSigningRequest,
  subresource: string,
  client: KeyContext['client'],
): Promise<boolean> {
  const resourceAttributes = {
    group: 'certificates.k8s.io',
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource,
  }
  const more = Object.fromEntries(Object.entries(extra).map(([name, values]) => [name, [...values]]))
  const spec = { user: username, uid, groups: [...groups], extra: more, resourceAttributes }
  const review = await client.create(SubjectAccessReview({ metadata: { name: '' }, spec }))
  return review.status?.allowed === true
}

const backdate = 5 * 60_000
const extendedUsages: ReadonlyMap<string, ExtendedKeyUsage> = new Map([
  ['client auth', 'clientAuth'],
  ['server auth', 'serverAuth'],
])

/** Signs requests that were approved, for the signers of the cluster itself. */
export function signingRequestSigner({ signCertificate }: ClusterTrust): KeyController {
  const signers = new Set<string>(Object.values(signerNames))
  return defineBuiltin({
    name: 'certificatesigningrequest-signing-controller',
    kind: CertificateSigningRequest,
    sources: [kindSource(CertificateSigningRequest)],
    start:
      ({ clock }) =>
      async (name, { client }) => {
        const request = await client.find(CertificateSigningRequest, name)
        if (request === undefined || (request.status?.certificate ?? '') !== '') return
        const approved = hasCondition(request, 'Approved') && !hasCondition(request, 'Denied')
        if (!approved || hasCondition(request, 'Failed') || !signers.has(request.spec.signerName)) return
        const { signerName, usages = [], expirationSeconds } = request.spec
        const parsed = parseCertificateRequest(pemOf(request))
        const now = clock.now()
        const problem = refusal(signerName, parsed, usages)
        const status = client.subresource(CertificateSigningRequest, 'status')
        if (problem !== undefined) {
          const lastUpdateTime = toTime(now)
          const reason = 'SignerValidationFailure'
          const failed = { type: 'Failed', status: 'True', reason, message: problem, lastUpdateTime }
          await status.update(withCondition(request, failed))
          return
        }
        const pem = signCertificate({
          request: parsed,
          usages: usages.flatMap((usage) => extendedUsages.get(usage) ?? []),
          notBefore: now - backdate,
          notAfter: now + lifetime(expirationSeconds),
        })
        const certificate = Buffer.from(pem).toString('base64')
        await status.update({ ...request, status: { ...request.status, certificate } })
      },
  })
}

/** What was asked for, within a year; the first minutes lie in the past. */
function lifetime(seconds: number | undefined): number {
  const wanted = seconds === undefined ? 365 * day : Math.min(365 * day, Math.max(10 * 60_000, seconds * 1000))
  return wanted - backdate
}

/** Deletes requests that nobody decided for a day, and decided ones after an hour. */
export const signingRequestCleaner: KeyController = /* @__PURE__ */ defineBuiltin({
  name: 'certificatesigningrequest-cleaner-controller',
  kind: CertificateSigningRequest,
  sources: [kindSource(CertificateSigningRequest)],
  start:
    ({ clock }) =>
    async (name, { client }) => {
      const request = await client.find(CertificateSigningRequest, name)
      if (request === undefined) return undefined
      const left = endOf(request) - clock.now()
      if (left > 0) return { requeueAfter: left }
      try {
        await client.delete(CertificateSigningRequest, name, { preconditions: { uid: request.metadata.uid } })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
      return undefined
    },
})

function endOf({ metadata, status }: CertificateSigningRequest): number {
  const issued = (status?.certificate ?? '') !== ''
  let end = fromTime(metadata.creationTimestamp) + day
  for (const { type, lastUpdateTime, lastTransitionTime } of status?.conditions ?? []) {
    const since = fromTime(lastUpdateTime ?? lastTransitionTime ?? metadata.creationTimestamp)
    // An approval counts when there is something to fetch.
    if (type === 'Denied' || type === 'Failed' || issued) end = Math.min(end, since + hour)
  }
  return end
}
