import { generateKeyPairSync, sign } from 'node:crypto'
import {
  CertificateAuthority,
  type CertificateSubject,
  der,
  derBitString,
  derInteger,
  derOid,
  derSequence,
  encodeName,
  toPem,
} from '@kubewright/base/pki'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AccessFixture } from '../../../testdata/access-fixture.ts'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { certificateSigningRequests } from './certificate-signing-request.ts'

let server: AccessFixture
beforeEach(async () => {
  server = await AccessFixture.start()
})
afterEach(() => server[Symbol.asyncDispose]())

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** A request that is signed with its own key. */
function requestFor(subject: CertificateSubject): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const info = derSequence(derInteger(Buffer.from([0])), encodeName(subject), spki, der(0xa0))
  const algorithm = derSequence(derOid('1.2.840.10045.4.3.2'))
  return base64(
    toPem('CERTIFICATE REQUEST', derSequence(info, algorithm, derBitString(sign('sha256', info, privateKey)))),
  )
}

const request = requestFor({ commonName: 'jane', organizations: ['devs'] })
const csr = (spec: object, name = 'c'): object => ({
  metadata: { name },
  spec: { request, signerName: 'example.com/s', usages: ['client auth'], ...spec },
})

describe('certificate signing requests', () => {
  test('record the requesting user and ignore user fields of the client', async () => {
    const body = csr({ username: 'root', groups: ['system:masters'], uid: '1' })
    const created = await server.send(`POST ${path}`, { body })
    expect(created).toMatchObject({
      status: 201,
      body: { spec: { username: 'root', groups: ['system:masters', 'system:authenticated'] }, status: {} },
    })
    expect(created.body.spec.uid).toBeUndefined()
  })

  test.each<[object, string, string]>([
    [
      { request: base64('x') },
      'spec.request',
      `Invalid value: "${base64('x')}": PEM block type must be CERTIFICATE REQUEST`,
    ],
    [{ usages: ['client auth', 'client auth'] }, 'spec.usages[1]', 'Duplicate value: "client auth"'],
    [
      { signerName: 'x' },
      'spec.signerName',
      `Invalid value: "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ],
    [
      { signerName: 'x/y' },
      'spec.signerName',
      'Invalid value: "x": should be a domain with at least two segments separated by dots',
    ],
    [
      { signerName: 'kubernetes.io/legacy-unknown' },
      'spec.signerName',
      'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
    [
      { expirationSeconds: 599 },
      'spec.expirationSeconds',
      'Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ])('reject %j', async (spec, field, message) => {
    const { body } = await server.send(`POST ${path}`, { body: csr(spec) })
    expect(body.details.causes).toContainEqual({ field, message, reason: expect.any(String) })
  })

  test('allow approval to change conditions and status to change the certificate', async () => {
    await server.send(`POST ${path}`, { body: csr({}) })
    const approved = (await server.send(`GET ${path}/c`)).body
    approved.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Ok' }] }
    const rejected = await server.send(`PUT ${path}/c/status`, { body: approved })
    expect(rejected.body.message).toContain('updates may not add a condition of type "Approved"')
    const decided = await server.send(`PUT ${path}/c/approval`, { body: approved })
    expect(decided.body.status.conditions).toMatchObject([{ type: 'Approved', lastUpdateTime: '2026-01-02T03:04:05Z' }])

    const { cert } = new CertificateAuthority(CertificateAuthority.create({ commonName: 'ca', now: 0 })).issueClient({
      commonName: 'jane',
      now: 0,
    })
    const signed = decided.body
    signed.status.certificate = base64('nothing')
    const bad = await server.send(`PUT ${path}/c/status`, { body: signed })
    expect(bad.body.message).toContain(
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    )
    signed.status.certificate = base64(cert)
    expect((await server.send(`PUT ${path}/c/status`, { body: signed })).status).toBe(200)
    const again = (await server.send(`GET ${path}/c`)).body
    again.status.certificate = base64(cert + cert)
    expect((await server.send(`PUT ${path}/c/status`, { body: again })).body.message).toContain(
      'updates may not modify existing certificate content',
    )
  })

  test('require the verb approve on the signer or on its domain', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await server.send(`POST ${path}`, { body: csr({}) })
    const grant = async (name: string, rule: object): Promise<void> => {
      await server.send(`POST ${rbac}/clusterroles`, {
        body: { metadata: { name }, rules: [{ apiGroups: ['certificates.k8s.io'], ...rule }] },
      })
      const binding = {
        metadata: { name },
        roleRef: { kind: 'ClusterRole', name },
        subjects: [{ kind: 'User', name: 'jane' }],
      }
      await server.send(`POST ${rbac}/clusterrolebindings`, { body: binding })
    }
    await grant('update', { resources: ['certificatesigningrequests/approval'], verbs: ['update'] })
    const { body } = await server.send(`GET ${path}/c`)
    body.status = { conditions: [{ type: 'Denied', status: 'True' }] }
    const rejected = await server.send(`PUT ${path}/c/approval`, { body, as: 'jane' })
    expect(rejected.body.message).toBe(
      'certificatesigningrequests.certificates.k8s.io "c" is forbidden: user not permitted to approve requests with signerName "example.com/s"',
    )
    await grant('approve', { resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['approve'] })
    expect((await server.send(`PUT ${path}/c/approval`, { body, as: 'jane' })).status).toBe(200)
  })

  test('reject requests for the group system:masters', async () => {
    const spec = {
      request: requestFor({ commonName: 'x', organizations: ['system:masters'] }),
      signerName: 'kubernetes.io/kube-apiserver-client',
    }
    const { body } = await server.send(`POST ${path}`, { body: csr(spec) })
    expect(body.message).toContain(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    )
  })
})

describe('the table of certificate signing requests', () => {
  test('shows signer, user and state', () => {
    expect(
      cellsOf(certificateSigningRequests, {
        spec: { signerName: 'e.com/s', username: 'jane', expirationSeconds: 3600 },
        status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'AA==' },
      }),
    ).toEqual(['x', '60m', 'e.com/s', 'jane', '60m', 'Approved,Failed,Issued'])
  })
})
