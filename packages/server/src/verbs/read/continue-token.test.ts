import { describe, expect, test } from 'vitest'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const v = 'meta.k8s.io/v1'

describe('decodeContinue()', () => {
  test('reads what encodeContinue() wrote', () => {
    const text = encodeContinue('/registry/pods/a/b', '/registry/pods/', 12)
    expect(decodeContinue(text, '/registry/pods/')).toEqual({ after: '/registry/pods/a/b', revision: 12 })
  })

  test.each([
    [{ v, rv: 1.5, start: 'a' }, 'cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64'],
    [{ v, rv: 1e300, start: 'a' }, 'of type int64'],
    [{ v, rv: 0, start: 'a' }, 'incorrect encoded start resourceVersion'],
    [{ v, rv: '1', start: 'a' }, 'incorrect encoded start resourceVersion'],
    [{ v, rv: 1, start: '../secrets/a' }, '../secrets/a'],
  ])('refuses %j as a bad request', (value, message) => {
    expect(() => decodeContinue(token(value), '/registry/pods/')).toThrow(
      expect.objectContaining({ reason: 'BadRequest', message: expect.stringContaining(message) }),
    )
  })
})
