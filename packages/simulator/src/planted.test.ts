import { describe, expect, test } from 'vitest'
import { explore } from './simulate.ts'
import { Cloud, planted, plantedSamples } from './testdata/planted.ts'

const given = process.env['KUBEWRIGHT_SCHEDULES']
const schedules = Number(given ?? 8)

describe.each(Object.entries(planted))('an operator that %s', (_, { found, make, options, isRare }) => {
  const all = { samples: plantedSamples, world: () => new Cloud(), ...options }

  // `test/simulator/main.ts` searches for all of them.
  test.skipIf(isRare && given === undefined)('is caught by simulate()', { timeout: 300_000 }, async () => {
    const { failure } = await explore(make(false), { ...all, schedules: 400 })
    expect(failure?.violation.oracle).toBe(found)
    expect(failure?.story).toContain('kubewright simulate --replay')
  })

  test('passes simulate() when it is fixed', { timeout: 900_000 }, async () => {
    const { failure } = await explore(make(true), { ...all, schedules })
    expect(failure?.story).toBeUndefined()
  })
})
