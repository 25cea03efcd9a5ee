import { describe, expect, test } from 'vitest'
import { connectionErrorText } from './connection-error-text.ts'

const target = { host: '10.0.0.9', port: 443 }
const failure = (code: string, more: object = {}): NodeJS.ErrnoException =>
  Object.assign(new Error(`node says ${code}`), { code, ...more })

describe('connectionErrorText()', () => {
  test.each([
    ['EHOSTUNREACH', 'dial tcp 10.0.0.9:443: connect: no route to host'],
    ['ENETUNREACH', 'dial tcp 10.0.0.9:443: connect: network is unreachable'],
    ['ETIMEDOUT', 'dial tcp 10.0.0.9:443: connect: connection timed out'],
    ['ENOTFOUND', 'dial tcp: lookup 10.0.0.9: no such host'],
    ['ECONNRESET', 'EOF'],
    ['EWHATEVER', 'node says EWHATEVER'],
  ])('has the text of Go for %s', (code, text) => {
    expect(connectionErrorText(failure(code), target)).toBe(text)
  })

  test('puts IPv6 addresses in brackets', () => {
    const text = connectionErrorText(failure('ECONNREFUSED'), { ...target, host: '::1' })
    expect(text).toBe('dial tcp [::1]:443: connect: connection refused')
  })
})
