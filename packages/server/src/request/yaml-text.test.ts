import { expect, test } from 'vitest'
import { yamlTextOf } from './yaml-text.ts'

test.each<[string, readonly number[], string]>([
  ['UTF-8', [0xc3, 0xa4], 'ä'],
  ['UTF-16, little-endian', [0xff, 0xfe, 0x7b, 0, 0x7d, 0], '{}'],
  ['UTF-16, big-endian', [0xfe, 0xff, 0, 0x7b, 0, 0x7d], '{}'],
])('yamlTextOf() decodes %s', (_, bytes, text) => {
  expect(yamlTextOf(Uint8Array.from(bytes))).toBe(text)
})

test.each<[readonly number[], string]>([
  [[0x61, 0xff], 'yaml: invalid leading UTF-8 octet'],
  [[0x61, 0x80], 'yaml: invalid leading UTF-8 octet'],
  [[0xc3, 0x28], 'yaml: invalid trailing UTF-8 octet'],
  [[0x61, 0xe2, 0x82], 'yaml: incomplete UTF-8 octet sequence'],
  [[0xc0, 0x80], 'yaml: invalid length of a UTF-8 sequence'],
  [[0xed, 0xa0, 0x80], 'yaml: invalid Unicode character'],
  [[0xf4, 0x90, 0x80, 0x80], 'yaml: invalid Unicode character'],
  [[0x01, 0xff], 'yaml: control characters are not allowed'],
])('yamlTextOf() refuses %j', (bytes, message) => {
  expect(() => yamlTextOf(Uint8Array.from(bytes))).toThrow(message)
})
