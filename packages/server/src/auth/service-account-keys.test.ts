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

describe('new ServiceAccountKeys()', () => {
  test('calls a function once, when the first token is signed or verified', () => {
    let calls = 0
    const pems = [ServiceAccountKeys.generate()]
    const lazy = new ServiceAccountKeys(() => {
      calls++
      return pems
    })
    expect(calls).toBe(0)
    const signed = lazy.sign({ sub: 'b' })
    expect(lazy.verify(signed)).toEqual({ claims: { sub: 'b' } })
    expect(new ServiceAccountKeys(pems).verify(signed)).toEqual({ claims: { sub: 'b' } })
    expect(calls).toBe(1)
  })

  test('rejects keys that cannot sign: given keys at once, others when they are needed', () => {
    expect(() => new ServiceAccountKeys([])).toThrow('the first key must be a private key')
    const lazy = new ServiceAccountKeys(() => [])
    expect(() => lazy.sign({})).toThrow('the first key must be a private key')
  })
})
