// docs/reference/capabilities.md names a test for each capability.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/reference/capabilities.md'), 'utf8')
const rows = [...page.matchAll(/^\| (\d+) \|.*\| (\S+\.test\.ts): `([^`]+)` \|$/gm)]

test('the page has all 28 capabilities', () => {
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 28 }, (_, index) => index + 1))
})

test('every capability works', () => {
  expect(page.match(/^\| \d+ \|.*\| works \|/gm)).toHaveLength(rows.length)
})

test.each(rows.map(([, number, file, title]) => [number!, file!, title!]))(
  'capability %s has its test in %s',
  (_, file, title) => {
    const text = readFileSync(join(root, file), 'utf8')
    expect(text).toContain(`'${title}'`)
  },
)
