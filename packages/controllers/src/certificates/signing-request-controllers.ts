import { fromTime, isNotFound, toTime } from '@kubewright/api'
import { type ExtendedKeyUsage, parseCertificateRequest } from '@kubewright/base/pki'
import { CertificateSigningRequest, SubjectAccessReview } from '@kubewright/k8s'
import { type KeyContext, type KeyController, type KeyOutcome, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import type { ClusterTrust } from './cluster-trust.ts'
import { cleanupTimeOf, validityOf } from './request-lifetime.ts'
import { hasCondition, kubeletClientRefusal, refusal, signerNames } from './request-rules.ts'

type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number]

const second = 1000
const minute = 60 * second

const isDecided = (request: CertificateSigningRequest): boolean =>
  hasCondition(request, 'Approved') || hasCondition(request, 'Denied')

const pemOf = ({ spec }: CertificateSigningRequest): string => Buffer.from(spec.request, 'base64').toString()

const isIssued = ({ status }: CertificateSigningRequest): boolean => (status?.certificate ?? '') !== ''

function withCondition(
  request: CertificateSigningRequest,
  type: string,
  reason: string,
  message: string,
  now: number,
): CertificateSigningRequest {
  const condition: Condition = { type, status: 'True', reason, message, lastUpdateTime: toTime(now) }
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } }
}

/** Reconciles one existing request at the time `now`. */
type ReconcileRequest = (
  request: CertificateSigningRequest,
  client: KeyContext['client'],
  now: number,
) => Promise<KeyOutcome | undefined>

function defineRequestController(name: string, reconcile: ReconcileRequest): KeyController {
  return defineBuiltinController({
    name: `certificatesigningrequest-${name}-controller`,
    kind: CertificateSigningRequest,
    sources: [kindSource(CertificateSigningRequest)],
    start:
      ({ clock }) =>
      async (key, { client }) => {
        const request = await client.find(CertificateSigningRequest, key)
        return request === undefined ? undefined : reconcile(request, client, clock.now())
      },
  })
}

/** Approves the client certificate requests of kubelets, when RBAC allows it. */
export const signingRequestApprover: KeyController = /* @__PURE__ */ defineRequestController('approving', approve)

async function approve(
  request: CertificateSigningRequest,
  client: KeyContext['client'],
  now: number,
): Promise<KeyOutcome | undefined> {
  if (isIssued(request) || isDecided(request)) return undefined
  const { signerName, usages = [], username = '' } = request.spec
  if (signerName !== signerNames.kubeletClient) return undefined
  const parsed = parseCertificateRequest(pemOf(request))
  if (kubeletClientRefusal(parsed, usages) !== undefined) return undefined
  const isSelf = parsed.commonName === username
  for (const subresource of isSelf ? ['selfnodeclient', 'nodeclient'] : ['nodeclient']) {
    if (!(await mayHave(request, subresource, client))) continue
    const whose = subresource === 'selfnodeclient' ? 'self kubelet' : 'kubelet'
    const message = `Auto approving ${whose} client certificate after SubjectAccessReview.`
    const approved = withCondition(request, 'Approved', 'AutoApproved', message, now)
    await client.subresource(CertificateSigningRequest, 'approval').update(approved)
    return undefined
  }
  // A role binding may allow the request later. The older it is, the less often the controller asks.
  const age = now - fromTime(request.metadata.creationTimestamp)
  return { requeueAfter: Math.min(5 * minute, Math.max(second, age)) }
}

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

const extendedUsages: ReadonlyMap<string, ExtendedKeyUsage> = new Map([
  ['client auth', 'clientAuth'],
  ['server auth', 'serverAuth'],
])

/** Signs approved requests for the built-in signers. */
export function signingRequestSigner({ signCertificate }: ClusterTrust): KeyController {
  const signers = new Set<string>(Object.values(signerNames))
  return defineRequestController('signing', async (request, client, now) => {
    const isApproved = hasCondition(request, 'Approved') && !hasCondition(request, 'Denied')
    if (isIssued(request) || !isApproved || hasCondition(request, 'Failed')) return undefined
    const { signerName, usages = [], expirationSeconds } = request.spec
    if (!signers.has(signerName)) return undefined
    const parsed = parseCertificateRequest(pemOf(request))
    const status = client.subresource(CertificateSigningRequest, 'status')
    const problem = refusal(signerName, parsed, usages)
    if (problem !== undefined) {
      await status.update(withCondition(request, 'Failed', 'SignerValidationFailure', problem, now))
      return undefined
    }
    const pem = signCertificate({
      request: parsed,
      usages: usages.flatMap((usage) => extendedUsages.get(usage) ?? []),
      ...validityOf(now, expirationSeconds),
    })
    const certificate = Buffer.from(pem).toString('base64')
    await status.update({ ...request, status: { ...request.status, certificate } })
    return undefined
  })
}

/** Deletes requests some time after their last change: see {@link cleanupTimeOf}. */
export const signingRequestCleaner: KeyController = /* @__PURE__ */ defineRequestController('cleaner', clean)

async function clean(
  request: CertificateSigningRequest,
  client: KeyContext['client'],
  now: number,
): Promise<KeyOutcome | undefined> {
  const left = cleanupTimeOf(request) - now
  if (left === Number.POSITIVE_INFINITY) return undefined
  if (left > 0) return { requeueAfter: left }
  const { name, uid } = request.metadata
  try {
    await client.delete(CertificateSigningRequest, name, { preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return undefined
}
