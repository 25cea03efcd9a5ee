import { describe, expect, test } from 'vitest'
import { explore } from './simulate.ts'
import { Cloud, planted, plantedSamples } from './testdata/planted.ts'

const schedules = Number(process.env['KUBEWRIGHT_SCHEDULES'] ?? 8)

describe.each(Object.entries(planted))('an operator that %s', (_, { found, make, options }) => {
  const all = { samples: plantedSamples, world: () => new Cloud(), ...options }

  test('is caught by simulate()', { timeout: 300_000 }, async () => {
    const { failure } = await explore(make(false), { ...all, schedules: 400 })
    expect(failure?.violation.oracle).toBe(found)
    expect(failure?.story).toContain('kubewright simulate --replay')
  })

  test('passes simulate() when it is fixed', { timeout: 900_000 }, async () => {
    const { failure } = await explore(make(true), { ...all, schedules })
    expect(failure?.story).toBeUndefined()
  })
})
