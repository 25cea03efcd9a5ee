import { toTime } from '@kubewright/api'
import { CertificateAuthority } from '@kubewright/base/pki'
import type { CertificateSigningRequest } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { cleanupTimeOf, validityOf } from './request-lifetime.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const now = Date.UTC(2026, 0, 1)

test.each([
  [undefined, 365 * day - 5 * minute],
  [600, 10 * minute],
  [1, 10 * minute],
  [8 * 3600 - 1, 8 * hour - 1000],
  [8 * 3600, 8 * hour - 5 * minute],
  [10 * 365 * 86400, 365 * day - 5 * minute],
])('validityOf() for %s seconds', (seconds, lasts) => {
  expect(validityOf(now, seconds)).toEqual({ notBefore: now - 5 * minute, notAfter: now + lasts })
})

const ca = new CertificateAuthority(CertificateAuthority.create({ commonName: 'ca', now }))
const pem = ca.issue({
  subject: { commonName: 'x' },
  usages: ['clientAuth'],
  notBefore: now,
  notAfter: now + 2 * hour + 20 * minute,
}).cert
const certificate = Buffer.from(pem).toString('base64')
const at = (type: string, hours: number) => ({ type, status: 'True', lastUpdateTime: toTime(now + hours * hour) })

test.each<[string, object | undefined, number]>([
  ['no decision', undefined, day],
  ['a denial', { conditions: [at('Denied', 1)] }, 2 * hour],
  ['a failure', { conditions: [at('Approved', 1), at('Failed', 2)] }, 3 * hour],
  ['an approval', { conditions: [at('Approved', 1)] }, 25 * hour],
  ['a certificate', { conditions: [at('Approved', 1)], certificate }, 2 * hour],
  ['a certificate that expires', { conditions: [at('Approved', 2)], certificate }, 2 * hour + 20 * minute],
  ['a certificate that cannot be parsed', { conditions: [at('Approved', 2)], certificate: 'eA==' }, 3 * hour],
])('cleanupTimeOf() after %s', (_, status, after) => {
  const request = { metadata: { name: 'r', creationTimestamp: toTime(now) }, status }
  expect(cleanupTimeOf(request as unknown as CertificateSigningRequest) - now).toBe(after)
})
