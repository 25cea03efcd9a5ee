import { describe, expect, test } from 'vitest'
import type { MutableObject } from '../resource/object.ts'
import type { TableDefinition } from '../resource/table-definition.ts'
import { defaultTable, includeObjectOf, tableMetadata, tableOf } from './table.ts'

const object: MutableObject = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 't', creationTimestamp: '2024-01-01T00:00:00Z', resourceVersion: '7' },
  data: {},
}
const options = { apiVersion: 'meta.k8s.io/v1', include: 'Metadata' } as const
const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata }
const plain: TableDefinition = { columns: [{ name: 'N', type: 'string' }], row: () => ['n'] }

describe('tableOf()', () => {
  test('fills all fields of column definitions', () => {
    expect(tableOf(plain, [object], { resourceVersion: '9' }, options, 0)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      columnDefinitions: [{ name: 'N', type: 'string', format: '', description: '', priority: 0 }],
      rows: [{ cells: ['n'], object: partial }],
    })
  })

  test('omits column definitions without headers, unless the table repeats them', () => {
    expect(tableOf(plain, [object], {}, options, 0, false)['columnDefinitions']).toBeNull()
    const repeating = { ...plain, repeatColumns: true }
    expect(tableOf(repeating, [object], {}, options, 0, false)['columnDefinitions']).toHaveLength(1)
  })

  test('includes the requested part of the object', () => {
    const shown = (include: 'None' | 'Object', of = object): unknown =>
      tableOf(plain, [of], {}, { ...options, include }, 0)['rows']
    expect(shown('None')).toEqual([{ cells: ['n'], object: null }])
    expect(shown('Object')).toEqual([{ cells: ['n'], object }])
    const bookmark = { ...object, metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } }
    expect(shown('None', bookmark)).toEqual([{ cells: ['n'], object: { ...partial, metadata: bookmark.metadata } }])
  })

  test('adds row conditions', () => {
    const conditions = [{ type: 'Completed', status: 'True' }] as const
    const table = { ...plain, conditions: () => conditions }
    const [row] = tableOf(table, [object], {}, options, 0)['rows'] as [object]
    expect(Object.entries(row)).toEqual([
      ['cells', ['n']],
      ['conditions', conditions],
      ['object', partial],
    ])
  })

  test('has null rows in an empty default table, and an empty list in others', () => {
    expect(tableOf(defaultTable, [], {}, options, 0)['rows']).toBeNull()
    expect(tableOf(plain, [], {}, options, 0)['rows']).toEqual([])
  })
})

describe('defaultTable', () => {
  test('shows the creation time', () => {
    expect(defaultTable.row(object, 0)).toEqual(['t', '2024-01-01T00:00:00Z'])
    expect(defaultTable.row({ ...object, metadata: {} }, 0)).toEqual(['', '0001-01-01T00:00:00Z'])
  })
})

describe('tableMetadata()', () => {
  test('contains the resource version if there is one', () => {
    expect(tableMetadata(object)).toEqual({ resourceVersion: '7' })
    expect(tableMetadata({ ...object, metadata: {} })).toEqual({})
  })
})

describe('includeObjectOf()', () => {
  test.each([null, undefined, '', 'Metadata'])('maps %s to Metadata', (value) => {
    expect(includeObjectOf(value)).toBe('Metadata')
  })

  test('throws BadRequest for an unknown value', () => {
    expect(() => includeObjectOf('none')).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "none": must be 'Metadata', 'Object', 'None', or empty`,
    )
  })
})
