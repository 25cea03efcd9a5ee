import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type CertificateState, planRotation, type RotationFacts } from './plan-rotation.ts'
import { readCertificate } from './read-certificate.ts'

const day = 24 * 3_600_000
const start = Date.UTC(2026, 0, 1)
const facts = (days: number, more: Partial<RotationFacts> = {}): RotationFacts => ({
  now: start + days * day,
  hosts: ['hooks.homes.svc'],
  settled: false,
  commonName: 'homes',
  servingMillis: 90 * day,
  caMillis: 365 * day,
  ...more,
})
const signedBy = ({ serving }: CertificateState, cert: string): boolean =>
  new X509Certificate(serving.cert).verify(new X509Certificate(cert).publicKey)

describe('planRotation()', () => {
  const first = planRotation(undefined, facts(0))

  test('starts with an authority and a certificate for the hosts', () => {
    expect(first.next).toBeUndefined()
    expect(first.trusted).toEqual([first.signer.cert])
    expect(signedBy(first, first.signer.cert)).toBe(true)
    expect(readCertificate(first.serving.cert).notAfter).toBe(start + 90 * day)
    expect(new X509Certificate(first.serving.cert).checkHost('hooks.homes.svc')).toBeDefined()
  })

  test('returns the same state when nothing is due', () => {
    expect(planRotation(first, facts(59))).toBe(first)
    expect(planRotation(first, facts(59, { settled: true }))).toBe(first)
  })

  test('renews the serving certificate after two thirds of its validity, and for new hosts, under the same authority', () => {
    for (const now of [facts(61), facts(1, { hosts: ['hooks.homes.svc', '10.0.0.1', 'fd00::1'] })]) {
      const renewed = planRotation(first, now)
      expect(renewed.serving.cert).not.toBe(first.serving.cert)
      expect(renewed).toMatchObject({ signer: first.signer, trusted: first.trusted })
      expect(planRotation(renewed, now)).toBe(renewed)
    }
  })

  test('publishes a new authority before it signs, and keeps the old one trusted until it expires', () => {
    const announced = planRotation(first, facts(244))
    const { next } = announced
    expect(announced.trusted).toEqual([first.signer.cert, next!.cert])
    expect(signedBy(announced, first.signer.cert)).toBe(true)
    expect(planRotation(announced, facts(245))).toBe(announced)

    const switched = planRotation(announced, facts(245, { settled: true }))
    expect(switched).toMatchObject({ signer: next, next: undefined, trusted: [next!.cert, first.signer.cert] })
    expect(signedBy(switched, next!.cert)).toBe(true)

    const later = planRotation(switched, facts(366))
    expect(later.trusted).toEqual([next!.cert])
  })

  test('issues no certificate that outlives its authority', () => {
    const announced = planRotation(first, facts(300))
    const renewed = planRotation(announced, facts(362))
    expect(readCertificate(renewed.serving.cert).notAfter).toBe(readCertificate(first.signer.cert).notAfter)
  })

  test('promotes the next authority when the old one has expired, settled or not, and starts over when both have', () => {
    const announced = planRotation(first, facts(300))
    const late = planRotation(announced, facts(400))
    expect(late).toMatchObject({ signer: announced.next, next: undefined, trusted: [announced.next!.cert] })
    const restarted = planRotation(announced, facts(700))
    expect(restarted.trusted).toEqual([restarted.signer.cert])
    expect([first.signer.cert, announced.next!.cert]).not.toContain(restarted.signer.cert)
  })
})
