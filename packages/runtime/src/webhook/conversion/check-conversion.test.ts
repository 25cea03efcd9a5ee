import { defineResource } from '@kubewright/api'
import { seededRandom } from '@kubewright/base'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defineConversion, spoke } from '../../define/define-conversion.ts'
import { checkConversion, conversionLosses } from './check-conversion.ts'
import { PatternSampler } from './pattern-sampler.ts'
import { Home, homeConversion } from './testdata/home.ts'
import { ValueGenerator } from './value-generator.ts'

describe('checkConversion()', () => {
  test('accepts a lossless conversion', () => {
    expect(checkConversion(homeConversion, { runs: 50, seed: 7 })).toEqual({ roundTrips: 200 })
  })

  const Pair = defineResource({
    group: 'example.com',
    kind: 'Pair',
    versions: {
      v1: {
        storage: true,
        spec: s.object({ a: s.string().optional(), b: s.int({ minimum: 0, maximum: 100 }).optional() }),
      },
      v1beta1: { spec: s.object({ a: s.string().optional() }) },
    },
  })

  test('reports the smallest object that loses something', () => {
    const lossy = defineConversion(Pair, [
      spoke(Pair.versions.v1beta1, {
        toHub: ({ spec }) => ({ spec: { ...(spec.a === undefined ? {} : { a: spec.a }) } }),
        fromHub: ({ spec }) => ({ spec: { ...(spec.a === undefined ? {} : { a: spec.a }) } }),
      }),
    ])
    expect(() => checkConversion(lossy)).toThrow(
      expect.objectContaining({
        code: 'KW_CONVERSION',
        message: expect.stringMatching(
          /^The conversion of Pair is not lossless \(v1 → v1beta1 → v1, seed 1\): \/spec\/b is lost\n {2}in between: .*"spec":\{\}.*\n {2}afterwards: .*\n {2}the object: .*"spec":\{"b":0\}/,
        ),
      }),
    )
  })

  test('has its losses listed by conversionLosses()', () => {
    const lossy = defineConversion(Pair, [
      spoke(Pair.versions.v1beta1, {
        toHub: ({ spec }) => ({ spec: { a: spec.a === undefined ? undefined : `${spec.a}!` } }),
        fromHub: ({ spec }) => ({ spec: { a: spec.a } }),
      }),
    ])
    const loss = { from: 'v1', via: 'v1beta1', message: '' }
    expect(conversionLosses(lossy)).toEqual(
      expect.arrayContaining([
        { ...loss, path: 'spec.b', change: 'is lost' },
        { ...loss, path: 'spec.a', change: 'changes' },
        { from: 'v1beta1', via: 'v1', path: 'spec.a', change: 'changes', message: '' },
      ]),
    )
    expect(conversionLosses(lossy)).toHaveLength(3)
    expect(conversionLosses(homeConversion, { runs: 20 })).toEqual([])
  })

  test('counts unknown fields as lost, since the API server drops them', () => {
    const smuggling = defineConversion(Pair, [
      spoke(Pair.versions.v1beta1, {
        toHub: ({ spec }) => ({ spec }),
        fromHub: ({ spec }) => ({ spec }),
      }),
    ])
    expect(() => checkConversion(smuggling)).toThrow('/spec/b is lost')
  })

  test('takes drafts of a kind as examples, and rejects those of other kinds', () => {
    const example = Pair({ metadata: { name: 'a' }, spec: { b: 7 } })
    const lossless = defineConversion(Pair, [
      spoke(Pair.versions.v1beta1, {
        toHub: ({ spec, metadata }) => {
          const { b, ...annotations } = metadata.annotations ?? {}
          return { spec: { ...spec, b: b === undefined ? undefined : Number(b) }, metadata: { annotations } }
        },
        fromHub: ({ spec: { a, b }, metadata }) => ({
          spec: { a },
          metadata: { annotations: { ...metadata.annotations, ...(b === undefined ? {} : { b: `${b}` }) } },
        }),
      }),
    ])
    expect(checkConversion(lossless, { runs: 0, examples: [example] })).toEqual({ roundTrips: 1 })
    expect(() =>
      checkConversion(lossless, { examples: [Home({ metadata: { name: 'a' }, spec: { image: 'a' } })] }),
    ).toThrow(
      'Cannot check the conversion of Pair with the example of ajd.example.com/v1 Home: its versions are example.com/v1, example.com/v1beta1',
    )
  })

  test("generates fields with 'generators', and only objects that 'accept' returns true for", () => {
    const seen: unknown[] = []
    const kept = homeConversion
    const options = {
      runs: 20,
      generators: { 'spec.image': () => 'nginx', 'spec.ports[]': () => 80 },
      accept: (object: object) => {
        const { spec } = object as { spec: { image?: string; ports?: number[]; replicas?: number; size?: number } }
        const isSmall = (spec.replicas ?? spec.size ?? 0) < 5
        if (isSmall && spec.image !== undefined) seen.push(spec.image, ...(spec.ports ?? []))
        return isSmall
      },
    }
    expect(checkConversion(kept, options).roundTrips).toBe(80)
    expect(new Set(seen)).toEqual(new Set(['nginx', 80]))
    expect(() => checkConversion(kept, { accept: (_) => false })).toThrow("passed the rules of its schema and 'accept'")
  })

  test('reports conversions that throw, and conversions that modify their input', () => {
    const { v1beta1 } = Pair.versions
    const throwing = spoke<typeof v1beta1, typeof Pair>(v1beta1, {
      toHub: ({ spec }) => ({ spec: { a: spec.a!.toUpperCase().toLowerCase() } }),
      fromHub: ({ spec }) => ({ spec: { a: spec.a } as { a: string } }),
    })
    expect(() => checkConversion(defineConversion(Pair, [throwing]))).toThrow(/it throws TypeError: Cannot read/)
    const changing = spoke<typeof v1beta1, typeof Pair>(v1beta1, {
      toHub: ({ spec }) => ({ spec }),
      fromHub: ({ spec }) => {
        delete (spec as { b?: number }).b
        return { spec: spec as { a: string } }
      },
    })
    expect(() => checkConversion(defineConversion(Pair, [changing]))).toThrow(/it throws TypeError/)
  })

  test('checks the given examples', () => {
    const fine = defineConversion(Pair, [
      spoke(Pair.versions.v1beta1, {
        toHub: ({ spec }) => ({ spec: spec.a === 'trap' ? { a: 'sprung' } : spec }),
        fromHub: ({ spec }) => ({ spec }),
      }),
    ])
    const trap = { apiVersion: 'example.com/v1beta1', kind: 'Pair', metadata: { name: 'x' }, spec: { a: 'trap' } }
    expect(checkConversion(fine, { runs: 0 })).toEqual({ roundTrips: 0 })
    expect(() => checkConversion(fine, { runs: 0, examples: [trap] })).toThrow('/spec/a changes')
  })

  test('fails when no generated object passes the rules', () => {
    const Never = defineResource({
      group: 'example.com',
      kind: 'Never',
      versions: {
        v1: { storage: true, spec: s.object({ a: s.int() }).rule('self.a == 424242', 'is the one') },
        v2: { spec: s.object({ a: s.int() }) },
      },
    })
    const conversion = defineConversion(Never, [
      spoke(Never.versions.v2, { toHub: ({ spec }) => ({ spec }), fromHub: ({ spec }) => ({ spec }) }),
    ])
    expect(() => checkConversion(conversion)).toThrow(`pass objects of this version as 'examples'`)
    expect(Home.versions.v1).toBe(Home)
  })
})

describe('PatternSampler', () => {
  test.each([
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '^(?:v[1-9]|latest|[A-F]{2,4})$',
    '^[^\\s/]+/[\\w.-]{1,5}$',
    '^a+b*c?$',
    '^\\W\\D[]x-]{2}.$',
    'x{2,}',
  ])('generates texts that match %s', (pattern) => {
    const sampler = new PatternSampler(pattern, seededRandom(3))
    const go = pattern.replace('[]', '[\\]')
    for (let i = 0; i < 50; i++) expect(sampler.sample()).toMatch(new RegExp(go))
  })
})

describe('ValueGenerator', () => {
  test('generates the same values for the same seed, within bounds', () => {
    const schema = s.object({
      n: s.int({ minimum: 3, maximum: 5 }),
      half: s.number({ minimum: 0, maximum: 2, multipleOf: 0.5 }),
      when: s.string({ format: 'date-time' }),
      ip: s.string({ format: 'ipv4' }),
      list: s.array(s.string({ pattern: '^[ab]$' }), { minItems: 1 }),
      map: s.map(s.bool()),
      text: s.string({ minLength: 12, maxLength: 12 }),
    }).json
    const make = (seed: number) => new ValueGenerator(seededRandom(seed)).value(schema)
    expect(make(5)).toEqual(make(5))
    for (let seed = 0; seed < 50; seed++) {
      const value = make(seed) as Record<string, unknown>
      expect([3, 4, 5]).toContain(value['n'])
      expect([0, 0.5, 1, 1.5, 2]).toContain(value['half'])
      expect(value['when']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect([...(value['text'] as string)]).toHaveLength(12)
    }
  })
})
