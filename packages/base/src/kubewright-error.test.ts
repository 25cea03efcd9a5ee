import { describe, expect, test } from 'vitest'
import { baseErrorCodes } from './error-codes.ts'
import { isKubewrightError, KubewrightError } from './kubewright-error.ts'

describe('KubewrightError', () => {
  test('has a code, a message and a cause, and prints its name', () => {
    const cause = new Error('socket closed')
    const error = new KubewrightError('KW_TEST', 'Cannot connect: connection refused', { cause })
    expect(error).toMatchObject({ code: 'KW_TEST', message: 'Cannot connect: connection refused', cause })
    expect(String(error)).toBe('KubewrightError: Cannot connect: connection refused')
    expect(error).toBeInstanceOf(Error)
    expect(Object.keys(error)).toEqual(['code'])
  })

  test('isKubewrightError() recognises subclasses and other copies of the package, optionally by code', () => {
    class Derived extends KubewrightError {}
    // An error from another loaded copy of the package: the same registered symbol, a different class.
    const foreign = Object.assign(new Error('x'), { [Symbol.for('kubewright.error')]: true, code: 'KW_TEST' })
    for (const error of [new KubewrightError('KW_TEST', 'x'), new Derived('KW_TEST', 'x'), foreign]) {
      expect(isKubewrightError(error)).toBe(true)
      expect(isKubewrightError(error, 'KW_TEST')).toBe(true)
      expect(isKubewrightError(error, 'KW_OTHER')).toBe(false)
    }
  })

  test.each([undefined, null, 'KW_TEST', new Error('x'), { code: 'KW_TEST' }])(
    'isKubewrightError(%o) is false',
    (value) => {
      expect(isKubewrightError(value)).toBe(false)
    },
  )

  test('baseErrorCodes are well-formed and described', () => {
    for (const [code, meaning] of Object.entries(baseErrorCodes)) {
      expect(code).toMatch(/^KW_[A-Z]+(_[A-Z]+)*$/)
      expect(meaning).toMatch(/^[A-Z].*\.$/)
    }
  })
})
