import { describe, expect, test } from 'vitest'
import { ConnectionError, connectionProblem } from './connection-error.ts'

describe('ConnectionError', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const message = (host: string, cause: Error): string =>
    new ConnectionError(connectionProblem(cause), { host, attempt: 1, cause }).message

  test('suggests https when a plain HTTP connection was closed', () => {
    expect(message('http://h:1', reset)).toBe('http://h:1: the connection was lost; the server may require https')
    expect(message('https://h:1', reset)).toBe('https://h:1: the connection was lost')
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    expect(message('http://h:1', refused)).not.toContain('https')
  })
})
