import { describe, expect, it } from 'vitest'
import { planCreation } from './plan-creation.ts'

describe('planCreation()', () => {
  it('creates the project in the named folder and forwards the flags of init', () => {
    expect(planCreation(['home-operator', '--domain', 'example.com', '--yes'], '/work')).toEqual({
      folder: '/work/home-operator',
      args: ['init', '--domain', 'example.com', '--yes'],
      next: ['cd home-operator', 'npx kubewright create api --kind Home --version v1'],
    })
    expect(planCreation(['my shop'], '/work').next[0]).toBe('cd "my shop"')
  })

  it('uses the current folder without a name', () => {
    expect(planCreation(['--yes'], '/work/42')).toEqual({
      folder: '/work/42',
      args: ['init', '--yes'],
      next: ['npx kubewright create api --kind Home --version v1'],
    })
  })
})
