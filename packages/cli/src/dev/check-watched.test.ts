import { UsageError } from '@kubewright/base'
import { expect, test } from 'vitest'
import { checkWatched } from './check-watched.ts'

const home = '/home/ann'

test.each(['/home/ann/project', '/home/anna', '/srv/project', '/home/bob'])('checkWatched() accepts %s', (folder) => {
  expect(() => checkWatched([folder, '/srv/shared'], home)).not.toThrow()
})

test.each([
  [['/home/ann'], 'cannot watch /home/ann because it is the home directory: move the operator to a folder of its own'],
  [['/'], 'cannot watch / because it contains the home directory: move the operator'],
  [['/srv/x', '/home'], '--watch: cannot watch /home because it contains the home directory: name a smaller folder'],
])('checkWatched() refuses %j', (folders, message) => {
  expect(() => checkWatched(folders, home)).toThrow(UsageError)
  expect(() => checkWatched(folders, home)).toThrow(message)
})
