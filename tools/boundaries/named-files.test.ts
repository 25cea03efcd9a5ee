import { expect, test } from 'vitest'
import { namedFileProblems } from './named-files.ts'

test('namedFileProblems() reports the files of a page that do not exist', () => {
  const files = ['packages/server/src/http/listener.ts', 'README.md']
  const text =
    '`http/listener.ts` and `server/http/listener.ts`, or `server/listener.ts`; `NAME-plugin.ts`; `README.md`; `http/`'
  expect(namedFileProblems('page.md', text, files)).toEqual([
    'page.md names the file server/listener.ts, which does not exist',
  ])
})
