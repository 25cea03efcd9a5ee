import { expect, test } from 'vitest'
import { KnownDocuments } from './known-documents.ts'

const document = (text: string, size = 10): Buffer => Buffer.alloc(size, text)

test('KnownDocuments.value() reads equal documents once', () => {
  const known = new KnownDocuments<string>()
  const reads: string[] = []
  const value = (bytes: Buffer): string =>
    known.value(bytes, () => {
      reads.push(bytes.toString('latin1', 0, 1))
      return bytes.toString('latin1', 0, 1)
    })
  expect(['a', 'b', 'a', 'b'].map((text) => value(document(text)))).toEqual(['a', 'b', 'a', 'b'])
  expect(value(document('a', 11))).toBe('a')
  expect(reads).toEqual(['a', 'b', 'a'])
})

test('KnownDocuments.value() keeps the latest documents up to a megabyte, and no larger one', () => {
  const known = new KnownDocuments<number>()
  let reads = 0
  const read = (text: string, size: number): number => known.value(document(text, size), () => ++reads)
  const third = 340 * 1024
  for (const text of ['a', 'b', 'c', 'a', 'd']) read(text, third)
  expect(reads).toBe(4)
  read('a', third)
  expect(reads).toBe(4)
  read('b', third)
  expect(reads).toBe(5)
  read('e', 2 * 1024 * 1024)
  read('e', 2 * 1024 * 1024)
  expect(reads).toBe(7)
})
