import { describe, expect, test } from 'vitest'
import { explainError } from './explain-error.ts'

describe('explainError()', () => {
  test.each([
    [{ code: 'EADDRINUSE', port: 6443, address: '127.0.0.1' }, /^Port 6443 of 127\.0\.0\.1 is in use: .* --port/],
    [{ code: 'EACCES', port: 443 }, /^No permission to listen on port 443: choose a port above 1023/],
    [{ code: 'EACCES', path: '/root/x' }, /^No permission to access \/root\/x: /],
    [{ code: 'EROFS', path: '/sys/x' }, /^\/sys\/x is on a read-only file system/],
    [{ code: 'ENOTDIR', path: '/etc/hosts/x' }, /^\/etc\/hosts\/x is not a folder/],
    [{ code: 'EISDIR', path: '/tmp' }, /^\/tmp is a folder, not a file/],
    [
      { code: 'ENOENT', path: '/proc/x', syscall: 'mkdir' },
      /^No folder can be created at \/proc\/x: choose another path$/,
    ],
    [{ code: 'ENOSPC' }, /^No space left on the device$/],
  ])('names the fix for %o', (properties, text) => {
    expect(explainError(Object.assign(new Error('raw'), properties))).toMatch(text)
  })

  test('keeps other messages and indents further lines', () => {
    expect(explainError(new Error('first\n  second\n'))).toBe('first\n    second')
    expect(explainError('thrown')).toBe('thrown')
  })
})
