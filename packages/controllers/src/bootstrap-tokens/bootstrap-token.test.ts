import { createHmac } from 'node:crypto'
import type { ConfigMap, Secret } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { now } from '../testdata/objects.ts'
import { detachedSignature, planSignatures, signingToken, tokenValidFor } from './bootstrap-token.ts'

function token(fields: Readonly<Record<string, string>> = {}, name = 'bootstrap-token-abcdef'): Secret {
  const texts = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...fields,
  }
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )
  return { type: 'bootstrap.kubernetes.io/token', metadata: { name }, data } as unknown as Secret
}
const info = (data: Readonly<Record<string, string>>): ConfigMap => ({ metadata: {}, data }) as unknown as ConfigMap

test('tokenValidFor() is infinite without an expiration and 0 for a past or invalid one', () => {
  expect(tokenValidFor(token(), now)).toBe(Number.POSITIVE_INFINITY)
  expect(tokenValidFor(token({ expiration: '2025-01-01T12:00:05Z' }), now)).toBe(5000)
  expect(tokenValidFor(token({ expiration: '2025-01-01T11:00:00Z' }), now)).toBe(0)
  expect(tokenValidFor(token({ expiration: 'tomorrow' }), now)).toBe(0)
})

test('signingToken() accepts valid tokens for signing whose name matches their id', () => {
  expect(signingToken(token(), now)).toEqual({ id: 'abcdef', key: 'abcdef.0123456789abcdef' })
  expect(signingToken(token({}, 'bootstrap-token-other1'), now)).toBeUndefined()
  expect(signingToken(token({ 'usage-bootstrap-signing': 'false' }), now)).toBeUndefined()
  expect(signingToken(token({ 'token-secret': '' }), now)).toBeUndefined()
  expect(signingToken(token({ expiration: '2025-01-01T11:00:00Z' }), now)).toBeUndefined()
})

test('planSignatures() adds the signatures of tokens and removes those of others', () => {
  const data = planSignatures(info({ kubeconfig: 'k', 'jws-kubeconfig-gone00': 'x' }), [token()], now)
  expect(data).toEqual({
    kubeconfig: 'k',
    'jws-kubeconfig-abcdef': detachedSignature('k', 'abcdef', 'abcdef.0123456789abcdef'),
  })
  expect(planSignatures(info(data ?? {}), [token()], now)).toBeUndefined()
  expect(planSignatures(info({}), [token()], now)).toBeUndefined()
})

test('detachedSignature() is a JWS without its payload', () => {
  const [header = '', payload, signature] = detachedSignature('content', 'abcdef', 'key').split('.')
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'abcdef' })
  expect(payload).toBe('')
  const signed = `${header}.${Buffer.from('content').toString('base64url')}`
  expect(signature).toBe(createHmac('sha256', 'key').update(signed).digest('base64url'))
})
