import { expect, test } from 'vitest'
import { ProtoWriter } from './proto-writer.ts'

const hex = (write: (writer: ProtoWriter) => void): string => {
  const writer = new ProtoWriter()
  write(writer)
  return writer.finish().toString('hex')
}

test.each<[string, (writer: ProtoWriter) => void, string]>([
  ['a string', (w) => w.string(1, 'ab'), '0a026162'],
  ['no empty string', (w) => w.string(1, ''), ''],
  ['empty strings of a list', (w) => w.strings(2, ['', 'a']), '1200120161'],
  ['a high field number', (w) => w.string(31, 'x'), 'fa010178'],
  ['true but not false', (w) => w.bool(4, true).bool(5, false), '2001'],
  ['an integer', (w) => w.integer(11, 300), '58ac02'],
  ['a negative integer', (w) => w.integer(1, -1), '08ffffffffffffffffff01'],
  ['a double', (w) => w.double(7, 1.5), '39000000000000f83f'],
  [
    'a nested message, even an empty one',
    (w) => w.message(3, () => undefined).message(3, (n) => n.string(1, 'a')),
    '1a001a030a0161',
  ],
])('ProtoWriter writes %s', (_, write, expected) => {
  expect(hex(write)).toBe(expected)
})
