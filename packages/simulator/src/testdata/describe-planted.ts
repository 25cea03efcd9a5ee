import { describe, expect, test } from 'vitest'
import { explore } from '../simulate.ts'
import { Cloud, type Planted, plantedSamples } from './things.ts'

const given = process.env['KUBEWRIGHT_SCHEDULES']
const schedules = Number(given ?? 3)

/** Tests that each mistake is caught, and that the corrected operator passes. */
export function describePlanted(planted: Readonly<Record<string, Planted>>): void {
  describe.each(Object.entries(planted))('an operator that %s', (_, { found, make, options, isRare }) => {
    const all = { samples: plantedSamples, world: () => new Cloud(), ...options }

    test('is caught by simulate()', { timeout: 300_000 }, async ({ skip }) => {
      if (isRare && given === undefined) skip('takes many schedules: test/simulator/main.ts planted searches for it')
      const { failure } = await explore(make(false), { ...all, schedules: 400 })
      expect(failure?.violation.oracle).toBe(found)
      expect(failure?.story).toContain('kubewright simulate --replay')
    })

    test('passes simulate() when it is fixed', { timeout: 900_000 }, async () => {
      const { failure } = await explore(make(true), { ...all, schedules })
      expect(failure?.story).toBeUndefined()
    })
  })
}
