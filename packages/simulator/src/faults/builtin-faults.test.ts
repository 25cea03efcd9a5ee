import { describe, expect, test } from 'vitest'
import { faultClasses } from '../define/fault-classes.ts'
import { FaultKinds } from '../define/fault-kinds.ts'
import { parseScheduleId, scheduleId } from '../define/schedule.ts'
import { builtinFaults } from './builtin-faults.ts'

const facts = { watchedResources: ['things'], hasWebhooks: true, hasPods: true, hasVolumes: true, replicas: 2 }

describe('builtinFaults', () => {
  test('have one definition per kind, and every class has a turn', () => {
    const kinds = new FaultKinds(builtinFaults)
    expect(new Set(builtinFaults.map((fault) => fault.class))).toEqual(new Set(faultClasses))
    expect(new Set(kinds.turns)).toEqual(new Set(faultClasses))
  })

  test.each(builtinFaults.map((fault) => [fault.kind, fault] as const))('%s is complete', (kind, definition) => {
    const faults = [...definition.points(3, facts), ...(definition.opening?.(facts) ?? [])]
    expect(definition.points(3, facts)).not.toEqual([])
    for (const fault of faults) {
      expect(fault.kind).toBe(kind)
      const schedule = { seed: 1, operations: [], faults: [fault], replicas: 1 }
      expect(parseScheduleId(scheduleId(schedule))).toEqual(schedule)
      expect(definition.duration(fault)).toBeGreaterThanOrEqual(0)
      expect(definition.describe(fault, 'get things a/b')).toMatch(/^\S.*[^.]$/)
    }
  })

  test('that last for a time say so, unless they keep the operator from nothing', () => {
    const harmless = new Set(['node-lost', 'pods-unready'])
    for (const definition of builtinFaults.filter(({ kind }) => !harmless.has(kind))) {
      for (const fault of definition.points(1, facts)) {
        if (typeof fault['for'] === 'number') expect(definition.duration(fault), definition.kind).toBe(fault['for'])
      }
    }
  })
})

describe('FaultKinds', () => {
  const [first] = builtinFaults

  test('refuses a second definition of a kind', () => {
    expect(() => new FaultKinds([...builtinFaults, { ...first! }])).toThrow(
      expect.objectContaining({ code: 'KW_SIMULATION_FAULT' }),
    )
  })

  test('refuses a fault of an unknown kind', () => {
    expect(() => new FaultKinds([]).of({ kind: 'crash', at: 1 })).toThrow(
      `The schedule has a fault of the unknown kind "crash": pass its definition in 'extraFaults'`,
    )
  })

  test('refuses an unknown class', () => {
    const kinds = new FaultKinds(builtinFaults)
    expect([...kinds.classes(['crash', 'slow'])]).toEqual(['crash', 'slow'])
    expect(() => kinds.classes(['crsh'])).toThrow(/^There is no class "crsh" of faults: use crash, error, /)
  })

  test('gives a class without a turn the last one', () => {
    expect(new FaultKinds([...builtinFaults, { ...first!, kind: 'own', class: 'own' }]).turns.at(-1)).toBe('own')
  })
})
