import { faultClasses } from '@kubewright/simulator'
import { expect, test } from 'vitest'
import { simulateFlags } from './simulate-command.ts'

test('simulateFlags.faults lists all classes of faults', () => {
  const listed = simulateFlags.faults.help.replace(/.*: /s, '').split(', ')
  expect(listed.sort()).toEqual([...faultClasses].sort())
})
