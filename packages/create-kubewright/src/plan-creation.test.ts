import { describe, expect, test } from 'vitest'
import { planCreation } from './plan-creation.ts'

describe('planCreation()', () => {
  test('creates the project in the named folder and forwards the flags of init', () => {
    expect(planCreation(['home-operator', '--domain', 'example.com', '--yes'], '/work')).toEqual({
      folder: '/work/home-operator',
      args: ['init', '--domain', 'example.com', '--yes'],
      enter: 'cd home-operator',
    })
    expect(planCreation(['my shop'], '/work').enter).toBe('cd "my shop"')
  })

  test('uses the current folder without a name', () => {
    expect(planCreation(['--yes'], '/work/42')).toEqual({
      folder: '/work/42',
      args: ['init', '--yes'],
      enter: undefined,
    })
  })
})
