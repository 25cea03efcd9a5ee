import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readLines } from './read-lines.ts'

async function* chunksOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const cut of [...cuts].toSorted((a, b) => a - b)) {
    yield bytes.subarray(start, cut)
    start = cut
  }
  yield bytes.subarray(start)
}

async function linesOf(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const all: string[] = []
  for await (const lines of readLines(chunks)) all.push(...lines)
  return all
}

describe('readLines()', () => {
  test('yields the same lines for any chunk boundaries, even within a character', async () => {
    const line = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\n', ' '))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
        const within = cuts.map((cut) => Math.min(cut, bytes.length))
        // Invalid UTF-8 is replaced in both.
        const expected = bytes.toString().split('\n').slice(0, -1)
        expect(await linesOf(chunksOf(bytes, within))).toEqual(expected)
      }),
    )
  })

  test('yields a non-empty remainder after the last newline', async () => {
    expect(await linesOf(chunksOf(Buffer.from('a\nb'), []))).toEqual(['a', 'b'])
    expect(await linesOf(chunksOf(Buffer.from('a\n'), []))).toEqual(['a'])
    expect(await linesOf(chunksOf(Buffer.from(''), []))).toEqual([])
  })

  test('yields lines that arrive together in one batch', async () => {
    const batches: string[][] = []
    for await (const lines of readLines(chunksOf(Buffer.from('a\nb\nc'), [4]))) batches.push(lines)
    expect(batches).toEqual([['a', 'b'], ['c']])
  })
})
