import { ReverseWriter, WireReader } from '@kubewright/base/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryGoValue } from '../../testdata/arbitrary-go-value.ts'
import { fieldNumbers } from '../generated/protobuf-fields.ts'
import { type GoField, goDeclaration } from '../go-declarations.ts'
import { DecodeState, goCodec } from '../json/go-codec.ts'
import { numberedFields } from './field-table.ts'
import { wireCodec } from './message-codecs.ts'

/** Structs by package; those that are only ever embedded have no declaration of their own. */
const structs = Object.entries(fieldNumbers).map(([key, lines]) => {
  const types = lines.split('\n').flatMap((line) => (line === '' ? [] : [`${key}.${line.split(' ')[0]}`]))
  return [key, types.filter((type) => Array.isArray(goDeclaration(type)))] as const
})

const canonical = (type: string, value: unknown): unknown => goCodec(type).decode(value, new DecodeState())

describe('wireCodec()', () => {
  test.each(structs)('gives back every struct of %s', (_, types) => {
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.gen(), (type, draw) => {
        const value = canonical(type, canonical(type, arbitraryGoValue(type, draw)))
        const writer = new ReverseWriter()
        wireCodec(type).write(writer, value)
        const read = wireCodec(type).read(new WireReader(writer.finish()), undefined)
        expect(canonical(type, read)).toEqual(value)
      }),
      { numRuns: types.length * 4 },
    )
  })

  test.each(structs)('has a number for every field of %s and a field for every number', (_, types) => {
    for (const type of types) {
      const names = (goDeclaration(type) as readonly GoField[])
        .filter(({ label }) => !label.startsWith('TypeMeta'))
        .map(({ name }) => name)
      expect([type, wireNames(type).sort()]).toEqual([type, names.sort()])
    }
  })

  test('writes a missing struct as one without content', () => {
    const written = [undefined, null, {}].map((value) => {
      const writer = new ReverseWriter()
      wireCodec('core/v1.PodSpec').write(writer, value)
      return writer.finish().toString('hex')
    })
    expect(new Set(written).size).toBe(1)
  })

  test('refuses types that are no messages', () => {
    expect(() => wireCodec('core/v1.Nothing')).toThrow('No protobuf message core/v1.Nothing is known')
  })
})

/** JSON names of the fields of a message, those of embedded structs included. */
function wireNames(type: string): string[] {
  return (numberedFields(type) ?? []).flatMap(({ name, embedded }) =>
    embedded ? wireNames(`${type.slice(0, type.lastIndexOf('.'))}.${name}`) : [name],
  )
}
