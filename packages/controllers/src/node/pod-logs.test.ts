import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { now } from '../testdata/objects.ts'
import { LogBook, type LogQuery } from './pod-logs.ts'

const clock = new VirtualClock({ start: now })
const query = (more: Partial<LogQuery> = {}): LogQuery => ({
  uid: 'u',
  container: 'c',
  follow: false,
  previous: false,
  timestamps: false,
  signal: new AbortController().signal,
  ...more,
})

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = []
  for await (const line of lines) read.push(line)
  return read
}

function book(): LogBook {
  const made = new LogBook()
  made.begin('u', 'c')
  made.write('u', 'c', 'first', now - 60_000)
  made.begin('u', 'c')
  for (const [index, text] of ['one', 'two', 'three'].entries())
    made.write('u', 'c', text, now - 20_000 + index * 10_000)
  return made
}

test.each<[string, Partial<LogQuery>, string[]]>([
  ['everything', {}, ['one\n', 'two\n', 'three\n']],
  ['the run before', { previous: true }, ['first\n']],
  ['the end', { tailLines: 1 }, ['three\n']],
  ['what is new', { sinceSeconds: 10 }, ['two\n', 'three\n']],
  ['what came after a time', { sinceTime: '2025-01-01T12:00:00Z' }, ['three\n']],
  ['so many bytes', { limitBytes: 6 }, ['one\n', 'tw']],
  ['times', { tailLines: 1, timestamps: true }, ['2025-01-01T12:00:00.000000000Z three\n']],
])('LogBook.read() gives %s', async (_, more, lines) => {
  expect(await all(book().read(query(more), clock))).toEqual(lines)
})

test('LogBook.read() follows until the container exits', async () => {
  const subject = book()
  const followed = all(subject.read(query({ follow: true, tailLines: 1 }), clock))
  await Promise.resolve()
  subject.write('u', 'c', 'four', now)
  await Promise.resolve()
  subject.end('u', 'c')
  expect(await followed).toEqual(['three\n', 'four\n'])
})

test('LogBook.read() ends when its signal is aborted', async () => {
  const stop = new AbortController()
  const followed = all(book().read(query({ follow: true, signal: stop.signal }), clock))
  stop.abort()
  expect(await followed).toHaveLength(3)
})
