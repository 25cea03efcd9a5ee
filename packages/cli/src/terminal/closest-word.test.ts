import { expect, it } from 'vitest'
import { closestWord } from './closest-word.ts'

it.each([
  ['instal', 'install'],
  ['dryrun', 'dry-run'],
  ['domian', 'domain'],
  ['pu', 'up'],
  ['delete', undefined],
  ['x', undefined],
])('closestWord() of %s is %s', (typed, word) =>
  expect(closestWord(typed, ['up', 'install', 'uninstall', 'domain', 'dry-run'])).toBe(word),
)
