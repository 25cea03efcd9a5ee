import { describe, expect, test } from 'vitest'
import { parseBindAddress } from './bind-address.ts'

describe('parseBindAddress()', () => {
  test.each([
    ['0', undefined],
    ['', undefined],
    [':8081', { host: '', port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['[::1]:8443', { host: '::1', port: 8443 }],
  ])('parses %o', (text, address) => expect(parseBindAddress(text)).toEqual(address))

  test.each(['8080', 'a', ':', ':99999', '::1:80', 'http://a:1', ':-1'])('rejects %o', (text) =>
    expect(() => parseBindAddress(text)).toThrow(
      'is not a bind address: use HOST:PORT or :PORT, or 0 to disable the server',
    ),
  )
})
