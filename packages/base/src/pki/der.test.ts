import { expect, test } from 'vitest'
import { fromPem, pemBlocks, toPem } from './der.ts'

test('pemBlocks() finds complete blocks only', () => {
  const text = `-----BEGIN A-----\nx${toPem('B', Buffer.from('1'))}-----END C-----\n${toPem('A', Buffer.from('2'))}`
  expect([...pemBlocks(text)].map(({ label }) => label)).toEqual(['A'])
  expect(
    [...pemBlocks(toPem('B', Buffer.from('1')) + toPem('A A', Buffer.from('2')))].map(({ label }) => label),
  ).toEqual(['B', 'A A'])
})

test('fromPem() returns the first block and the rest', () => {
  const [first, second] = [toPem('ONE', Buffer.from('1')), toPem('TWO', Buffer.from('2'))]
  expect(fromPem(`junk\n${first}${second}`)).toEqual({ label: 'ONE', bytes: Buffer.from('1'), rest: second })
  expect(fromPem(`-----BEGIN ONE-----\n-----END ONE-----x\n${second}`)?.label).toBe('TWO')
  expect(fromPem('-----BEGIN ONE-----\nMQ==\n')).toBeUndefined()
})

test('pemBlocks() takes linear time for very many blocks without an end', () => {
  const open = Array.from({ length: 200_000 }, (_, i) => `-----BEGIN A${i % 1000}-----\n`).join('')
  expect([...pemBlocks(open + toPem('B', Buffer.from('1')))].map(({ label }) => label)).toEqual(['B'])
  expect(fromPem(open)).toBeUndefined()
})
