import { describe, expect, test } from 'vitest'
import type { MutableObject } from '../resource/object.ts'
import { customScaleTable, customTable } from './custom-table.ts'

const now = Date.UTC(2024, 0, 1, 1)
const object = (fields: object): MutableObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', creationTimestamp: '2024-01-01T00:00:00Z' },
  ...fields,
})
const cell = (type: string, jsonPath: string, fields: object): unknown =>
  customTable([{ name: 'C', type, jsonPath }]).row(object(fields), now)[1]

describe('customTable()', () => {
  test('shows name and age without columns', () => {
    const table = customTable([])
    expect(table.columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ])
    expect(table.row(object({}), now)).toEqual(['w', '60m'])
  })

  test('uses the path as description of columns without one', () => {
    const { columns } = customTable([
      { name: 'A', type: 'string', jsonPath: '.spec.a' },
      { name: 'B', type: 'string', jsonPath: '.spec.b', description: 'a b', priority: 1, format: 'byte' },
    ])
    expect(columns.slice(1)).toEqual([
      {
        name: 'A',
        type: 'string',
        format: '',
        description: 'Value at .spec.a.',
        priority: 0,
      },
      { name: 'B', type: 'string', format: 'byte', description: 'a b', priority: 1 },
    ])
  })

  test('ends before a column with a malformed path', () => {
    const columns = ['.a', '.b[', '.c'].map((jsonPath) => ({ name: jsonPath, type: 'string', jsonPath }))
    expect(customTable(columns).columns.map(({ name }) => name)).toEqual(['Name', '.a'])
  })

  test.each<[string, string, object, unknown]>([
    ['integer', '.v', { v: 5 }, 5],
    ['integer', '.v', { v: -1.9 }, -1],
    ['integer', '.v', { v: '5' }, null],
    ['number', '.v', { v: 1.5 }, 1.5],
    ['boolean', '.v', { v: false }, false],
    ['boolean', '.v', { v: 'true' }, null],
    ['string', '.v', { v: 'text' }, 'text'],
    ['string', '.v', { v: true }, 'true'],
    ['string', '.v', { v: ['x', 'y'] }, '["x","y"]'],
    ['string', '.v', { v: { b: 1, a: '<' } }, '{"a":"\\u003c","b":1}'],
    ['string', '.v', { v: null }, '<no value>'],
    ['integer', '.v', { v: null }, null],
    ['string', '.v', {}, null],
    ['string', '.v[*].n', { v: [{ n: 'a' }, { n: 'b' }] }, 'a'],
    [
      'string',
      '.v[?(@.t=="R")].s',
      {
        v: [
          { t: 'Q', s: '1' },
          { t: 'R', s: '2' },
        ],
      },
      '2',
    ],
    ['string', '.v[?(@.t=="R")].s', {}, null],
    ['string', '.v[3]', { v: [] }, null],
    ['date', '.v', { v: '2024-01-01T00:58:00Z' }, '2m'],
    ['date', '.v', { v: '2024-01-01T02:00:00Z' }, '<invalid>'],
    ['date', '.v', { v: 'yesterday' }, '<invalid>'],
    ['date', '.v', { v: '' }, '<unknown>'],
    ['date', '.v', { v: 5 }, null],
    ['odd', '.v', { v: 5 }, null],
  ])('fills a column of type %s at %s for %j with %j', (type, path, fields, expected) => {
    expect(cell(type, path, fields)).toEqual(expected)
  })

  test('shows the smallest integer for a number out of range', () => {
    expect(cell('integer', '.v', { v: 1e21 })).toBe(-(2n ** 63n))
  })
})

describe('customScaleTable()', () => {
  test('shows the replicas that have a path', () => {
    const scale = object({ spec: { replicas: 3 }, status: { replicas: 2 } })
    const table = customScaleTable({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' })
    expect(table.columns.map(({ name }) => name)).toEqual(['Name', 'Desired', 'Available', 'Age'])
    expect(table.row(scale, now)).toEqual(['w', 3, 2, '60m'])
    expect(customScaleTable({ specReplicasPath: '.spec.size' }).row(scale, now)).toEqual(['w', 3, '60m'])
  })
})
