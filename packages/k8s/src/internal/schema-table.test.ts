import { structName } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { resolveSchema } from './resolve-schema.ts'
import { SchemaTable } from './schema-table.ts'

const meta = new SchemaTable('meta/v1', '\nTime\nMeta name:string\n')
const homes = new SchemaTable('homes/v1', '\nHome !meta meta:meta/v1.Meta={} door:Door home:Home\nDoor open:bool\n', [
  meta,
])

describe('SchemaTable', () => {
  test('lists its definitions in order', () => {
    expect([...homes.names()]).toEqual(['Home', 'Door'])
  })

  test('definition() parses a line once', () => {
    expect(homes.definition('Door')).toBe(homes.definition('Door'))
  })

  test('definition() names the missing definition', () => {
    expect(() => homes.definition('Roof')).toThrow('Cannot find a schema: io.k8s.api.homes.v1.Roof is not built in')
  })

  test('locate() finds definitions of this and of imported tables only', () => {
    expect(homes.locate('Door')).toEqual({ table: homes, local: 'Door' })
    expect(homes.locate('meta/v1.Time')).toEqual({ table: meta, local: 'Time' })
    expect(() => homes.locate('core/v1.Pod')).toThrow('homes/v1 does not import core/v1')
  })
})

describe('resolveSchema()', () => {
  test('replaces references and closes cycles', () => {
    const home = resolveSchema(homes, 'Home')
    expect(home.required).toEqual(['meta'])
    expect(home.properties?.['meta']).toEqual({ type: 'object', properties: { name: { type: 'string' } }, default: {} })
    expect(home.properties?.['home']).toBe(home)
    expect(home.properties?.['door']).toBe(resolveSchema(homes, 'Door'))
    // Fields with a default of their own are copies, but have the same struct name.
    expect([home, home.properties!['door']!, home.properties!['meta']!].map(structName)).toEqual([
      'Home',
      'Door',
      'Meta',
    ])
  })
})
