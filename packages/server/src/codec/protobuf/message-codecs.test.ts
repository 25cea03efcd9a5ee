import { ReverseWriter, WireReader } from '@kubewright/base/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGoValue } from '../../testdata/arbitrary-go-value.ts'
import { fieldNumbers } from '../generated/protobuf-fields.ts'
import type { GoField } from '../go-declarations.ts'
import { DecodeState } from '../json/go-codec.ts'
import { defaultServedRelease } from '../served-release.ts'
import { numberedFields } from './field-table.ts'

/** Structs by package, without those that are only embedded. */
// Packages that only other releases have are left out.
const structs = Object.entries(fieldNumbers).flatMap(([key, lines]) => {
  const types = lines.split('\n').flatMap((line) => (line === '' ? [] : [`${key}.${line.split(' ')[0]}`]))
  const known = types.filter((type) => Array.isArray(defaultServedRelease.declarations.find(type)))
  return known.length === 0 ? [] : [[key, known] as const]
})

const canonical = (type: string, value: unknown): unknown =>
  defaultServedRelease.json.codec(type).decode(value, new DecodeState())

describe('defaultServedRelease.wire.codec()', () => {
  test.each(structs)('round-trips every struct of %s', (_, types) => {
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.gen(), (type, draw) => {
        const value = canonical(type, canonical(type, arbitraryGoValue(type, draw)))
        const writer = new ReverseWriter()
        defaultServedRelease.wire.codec(type).write(writer, value)
        const read = defaultServedRelease.wire.codec(type).read(new WireReader(writer.finish()), undefined)
        expect(canonical(type, read)).toEqual(value)
      }),
      { numRuns: types.length * 4 },
    )
  })

  test.each(structs)('has exactly one number for every field of %s', (_, types) => {
    for (const type of types) {
      const names = (defaultServedRelease.declarations.find(type) as readonly GoField[])
        .filter(({ label }) => !label.startsWith('TypeMeta'))
        .map(({ name }) => name)
      // The numbers are those of all releases, whose fields differ.
      const numbered = wireNames(type).filter((name) => names.includes(name))
      expect([type, numbered.sort()]).toEqual([type, names.sort()])
    }
  })

  test('writes an absent struct as an empty message', () => {
    const written = [undefined, null, {}].map((value) => {
      const writer = new ReverseWriter()
      defaultServedRelease.wire.codec('core/v1.PodSpec').write(writer, value)
      return writer.finish().toString('hex')
    })
    expect(new Set(written).size).toBe(1)
  })

  test('throws for types that are no messages', () => {
    expect(() => defaultServedRelease.wire.codec('core/v1.Nothing')).toThrow('Unknown protobuf message core/v1.Nothing')
  })
})

/** The JSON names of a message's fields, including those of embedded structs. */
function wireNames(type: string): string[] {
  return (numberedFields(type) ?? []).flatMap(({ name, embedded }) =>
    embedded ? wireNames(`${type.slice(0, type.lastIndexOf('.'))}.${name}`) : [name],
  )
}
