import { expect, test } from 'vitest'
import { ValueEncoder } from './value-encoder.ts'

const texts = Array.from({ length: 4096 }, (_, i) => `{"name":"${i} ä 漢 🙂","text":"${'x'.repeat(i)}"}`)

/** How many of the texts an encoder puts into shared buffers, after a first round in which it looks at the memory. */
function sharedOf(values: ValueEncoder): number {
  for (const text of texts) values.encode(text)
  return texts.filter((text) => values.encode(text).buffer instanceof SharedArrayBuffer).length
}

test('ValueEncoder.encode uses shared buffers for all but every n-th text of a large process', () => {
  expect(sharedOf(new ValueEncoder(() => 300 * 2 ** 20))).toBe(0)
  expect(sharedOf(new ValueEncoder(() => 512 * 2 ** 20))).toBe(texts.length / 2)
  expect(sharedOf(new ValueEncoder(() => 4096 * 2 ** 20))).toBe((texts.length / 16) * 15)
})

test('ValueEncoder.encode gives the bytes of every text, whatever its size', () => {
  const values = new ValueEncoder(() => 2 ** 40)
  sharedOf(values)
  for (const text of [...texts, '', 'ä'.repeat(70_000), 'x'.repeat(2 ** 20)]) {
    expect(Buffer.compare(values.encode(text), Buffer.from(text))).toBe(0)
  }
})
