import { expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { checkWatched } from './check-watched.ts'

const home = '/home/ann'

test.each(['/home/ann/project', '/home/anna', '/srv/project', '/home/bob'])(
  'checkWatched() lets %s be watched',
  (folder) => {
    expect(() => checkWatched([folder, '/srv/shared'], home)).not.toThrow()
  },
)

test.each([
  [['/home/ann'], 'will not watch /home/ann, the home directory: move the operator to a folder of its own'],
  [['/'], 'will not watch /, a folder that the home directory is in: move the operator'],
  [['/srv/x', '/home'], '--watch: will not watch /home, a folder that the home directory is in: name smaller folders'],
])('checkWatched() refuses %j', (folders, message) => {
  expect(() => checkWatched(folders, home)).toThrow(UsageError)
  expect(() => checkWatched(folders, home)).toThrow(message)
})
