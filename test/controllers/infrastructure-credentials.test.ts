import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bearerToken, createClient, inProcessTransport } from '@kubewright/client'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Namespace,
  Secret,
  SelfSubjectReview,
  ServiceAccount,
} from '@kubewright/k8s'
import { createServerIdentity } from '@kubewright/server'
import { expect, test } from 'vitest'
import { waitFor } from './wait-for.ts'

const identity = createServerIdentity(Date.now())
const start = (): Promise<ControlPlane> => startControlPlane({ nodes: 0, identity })
/** Requests created by openssl: `nodes.csr` for CN=system:node:n1, O=system:nodes, and `user.csr` for CN=jane. */
const requestIn = (file: string): string =>
  readFileSync(new URL(`./testdata/${file}`, import.meta.url)).toString('base64')

test('every namespace has the cluster CA and a service account, which are restored when deleted', async () => {
  await using plane = await start()
  const api = plane.client()
  await api.create(Namespace({ metadata: { name: 'new' } }))
  const key = { name: 'kube-root-ca.crt', namespace: 'new' }
  const map = await waitFor(api, ConfigMap, key, (found) => found !== undefined)
  expect(map?.data).toEqual({ 'ca.crt': identity.ca.cert })
  expect(map?.metadata.annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/)
  await api.patch(ConfigMap, key, { data: { 'ca.crt': 'x', more: 'y' } })
  await waitFor(api, ConfigMap, key, (found) => Object.keys(found?.data ?? {}).join() === 'ca.crt')
  const account = { name: 'default', namespace: 'new' }
  const first = await waitFor(api, ServiceAccount, account, (found) => found !== undefined)
  await api.delete(ServiceAccount, account)
  await waitFor(
    api,
    ServiceAccount,
    account,
    (found) => found !== undefined && found.metadata.uid !== first?.metadata.uid,
  )
})

test('a token Secret is filled with a valid token and deleted with its service account', async () => {
  await using plane = await start()
  const api = plane.client()
  const account = await api.create(ServiceAccount({ metadata: { name: 'robot', namespace: 'default' } }))
  const secret = (name: string, of: string) =>
    Secret({
      metadata: { name, namespace: 'default', annotations: { 'kubernetes.io/service-account.name': of } },
      type: 'kubernetes.io/service-account-token',
    })
  await api.create(secret('token', 'robot'))
  const key = { name: 'token', namespace: 'default' }
  const filled = await waitFor(api, Secret, key, (found) => found?.data?.['token'] !== undefined)
  expect(filled?.metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(account.metadata.uid)
  const text = (name: string): string => Buffer.from(filled?.data?.[name] ?? '', 'base64').toString()
  expect([text('namespace'), text('ca.crt')]).toEqual(['default', identity.ca.cert])
  const transport = inProcessTransport({ handler: plane.server.handler })
  await using robot = createClient({ transport, credentials: bearerToken(text('token')) })
  const review = await robot.create(SelfSubjectReview({ metadata: { name: '' } }))
  expect(review.status?.userInfo?.username).toBe('system:serviceaccount:default:robot')
  await api.create(secret('nobody', 'missing'))
  await waitFor(api, Secret, { ...key, name: 'nobody' }, (found) => found === undefined)
  await api.delete(ServiceAccount, { name: 'robot', namespace: 'default' })
  await waitFor(api, Secret, key, (found) => found === undefined)
  await expect(robot.create(SelfSubjectReview({ metadata: { name: '' } }))).rejects.toMatchObject({
    status: { code: 401 },
  })
})

test('the certificate request of a kubelet is approved where RBAC permits it, and signed', async () => {
  await using plane = await start()
  const api = plane.client()
  const allow = async (group: string, resources: readonly string[]): Promise<void> => {
    const rules = [{ apiGroups: ['certificates.k8s.io'], resources: [...resources], verbs: ['create'] }]
    await api.create(ClusterRole({ metadata: { name: group }, rules }))
    const apiGroup = 'rbac.authorization.k8s.io'
    await api.create(
      ClusterRoleBinding({
        metadata: { name: group },
        roleRef: { apiGroup, kind: 'ClusterRole', name: group },
        subjects: [{ apiGroup, kind: 'Group', name: group }],
      }),
    )
  }
  await allow('askers', ['certificatesigningrequests'])
  await allow('joiners', ['certificatesigningrequests', 'certificatesigningrequests/nodeclient'])
  const ask = (name: string, user: { readonly name: string; readonly groups?: readonly string[] }) =>
    plane.client({ user }).create(
      CertificateSigningRequest({
        metadata: { name },
        spec: {
          request: requestIn('nodes.csr'),
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: ['digital signature', 'client auth'],
          expirationSeconds: 3600,
        },
      }),
    )
  await ask('asks', { name: 'somebody', groups: ['askers'] })
  await ask('joins', { name: 'system:bootstrap:x', groups: ['joiners'] })
  const signed = await waitFor(
    api,
    CertificateSigningRequest,
    { name: 'joins' },
    (found) => (found?.status?.certificate ?? '') !== '',
  )
  expect(signed?.status?.conditions).toMatchObject([
    {
      type: 'Approved',
      status: 'True',
      reason: 'AutoApproved',
      message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    },
  ])
  // It was processed before the one that was signed.
  expect((await api.get(CertificateSigningRequest, 'asks')).status?.conditions).toBeUndefined()
  const certificate = new X509Certificate(Buffer.from(signed?.status?.certificate ?? '', 'base64'))
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n1')
  expect(certificate.verify(new X509Certificate(identity.ca.cert).publicKey)).toBe(true)
  // An hour from now, valid since five minutes ago.
  expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(3900_000)
})

test('a certificate request that the signer rejects fails with the reason', async () => {
  await using plane = await start()
  const api = plane.client()
  const request = CertificateSigningRequest({
    metadata: { name: 'jane' },
    spec: {
      request: requestIn('user.csr'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'server auth'],
    },
  })
  const created = await api.create(request)
  const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand', message: 'fine' }]
  await api.subresource(CertificateSigningRequest, 'approval').update({ ...created, status: { conditions } })
  const failed = await waitFor(
    api,
    CertificateSigningRequest,
    { name: 'jane' },
    (found) => found?.status?.conditions?.length === 2,
  )
  expect(failed?.status?.conditions?.[1]).toMatchObject({
    type: 'Failed',
    reason: 'SignerValidationFailure',
    message: 'invalid usage for client certificate: server auth',
  })
})
