import type { ParsedCertificateRequest } from '@kubewright/base/pki'
import { expect, test } from 'vitest'
import { refusal, signerNames } from './request-rules.ts'

const node = { commonName: 'system:node:n', organizations: ['system:nodes'] }
// Contains only the fields that the rules read.
const request = (more: object): ParsedCertificateRequest =>
  ({
    dnsNames: [],
    ipAddresses: [],
    emailAddresses: [],
    uris: [],
    ...node,
    ...more,
  }) as unknown as ParsedCertificateRequest
const client = ['client auth', 'digital signature']
const serving = ['server auth', 'digital signature', 'key encipherment']

test.each<[string, object, string[], string | undefined]>([
  [signerNames.client, {}, ['client auth'], undefined],
  [signerNames.client, {}, ['digital signature'], 'missing required usage for client certificate: client auth'],
  [signerNames.client, {}, ['client auth', 'cert sign'], 'invalid usage for client certificate: cert sign'],
  [signerNames.kubeletClient, {}, client, undefined],
  [signerNames.kubeletClient, {}, [...client, 'key encipherment'], undefined],
  [signerNames.kubeletClient, {}, serving, 'usages did not match [client auth digital signature key encipherment]'],
  [signerNames.kubeletClient, { organizations: ['x'] }, client, 'subject organization is not system:nodes'],
  [signerNames.kubeletClient, { commonName: 'n' }, client, 'subject common name does not begin with system:node:'],
  [signerNames.kubeletClient, { dnsNames: ['a'] }, client, 'DNS subjectAltNames are not allowed'],
  [signerNames.kubeletClient, { ipAddresses: ['::1'] }, client, 'IP subjectAltNames are not allowed'],
  [signerNames.kubeletClient, { emailAddresses: ['a'] }, client, 'Email subjectAltNames are not allowed'],
  [signerNames.kubeletClient, { uris: ['a'] }, client, 'URI subjectAltNames are not allowed'],
  [signerNames.kubeletServing, { dnsNames: ['n'] }, serving, undefined],
  [
    signerNames.kubeletServing,
    { dnsNames: ['n'], commonName: 'n' },
    client,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [signerNames.kubeletClient, { dnsNames: ['n'], commonName: 'n' }, client, 'DNS subjectAltNames are not allowed'],
  [signerNames.kubeletServing, {}, serving, 'DNS or IP subjectAltName is required'],
  [
    signerNames.kubeletServing,
    { ipAddresses: ['::1'] },
    client,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [signerNames.legacy, { commonName: 'x' }, ['cert sign'], undefined],
])('refusal() of %s for %j with %j', (signer, more, usages, expected) => {
  expect(refusal(signer, request(more), usages)).toBe(expected)
})
