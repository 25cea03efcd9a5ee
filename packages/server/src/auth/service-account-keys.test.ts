import { describe, expect, test } from 'vitest'
import { ServiceAccountKeys } from './service-account-keys.ts'

const keys = new ServiceAccountKeys([ServiceAccountKeys.generate()])
const token = keys.sign({ sub: 'a' })

describe('ServiceAccountKeys.verify()', () => {
  test('returns the claims of a token that it signed', () => {
    expect(keys.verify(token)).toEqual({ claims: { sub: 'a' } })
  })

  test.each([
    ['padding', `${token}==`],
    ['a newline', `${token}\n`],
    ['characters outside the alphabet', `${token}!*`],
    ['a character in the middle of the signature', `${token.slice(0, -5)}.${token.slice(-5)}`],
    ['a space in the signature', `${token.slice(0, -5)} ${token.slice(-5)}`],
  ])('accepts no second spelling of the signature: %s', (_, spelled) => {
    expect(keys.verify(spelled)).toBeUndefined()
  })
})
