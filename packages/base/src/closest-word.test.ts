import { expect, test } from 'vitest'
import { closestWord } from './closest-word.ts'

const words = ['up', 'dev', 'deploy', 'undeploy', 'uninstall']

test.each([
  ['deploi', 'deploy'],
  ['dpeloy', 'deploy'],
  ['UNDEPLOY', 'undeploy'],
  ['deve', 'dev'],
  ['dve', 'dev'],
  ['uninstal', 'uninstall'],
])('closestWord() corrects %j to %j', (typed, meant) => {
  expect(closestWord(typed, words)).toBe(meant)
})

test.each(['', 'x', 'xyz', 'kubectl', 'deployment-controller'])('closestWord() has no suggestion for %j', (typed) => {
  expect(closestWord(typed, words)).toBeUndefined()
})
