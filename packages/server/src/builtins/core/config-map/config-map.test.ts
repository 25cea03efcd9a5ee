import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { configMaps } from './config-map.ts'

const { createErrors } = strategyHarness(configMaps)

describe('config maps', () => {
  test.each<[string, object, string[]]>([
    [
      'invalid keys',
      { data: { 'a/b': 'x' } },
      [
        "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [
      'a key in both data and binaryData',
      { data: { a: 'x' }, binaryData: { a: 'eA==' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [
      'more than a MiB of data',
      { data: { a: 'x'.repeat(1024 * 1024 + 1) } },
      ['[]: Too long: may not be more than 1048576 bytes'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('show the number of entries', () => {
    expect(cellsOf(configMaps, { data: { a: '1' }, binaryData: { b: 'Ag==', c: 'Aw==' } })).toEqual(['x', 3, '60m'])
  })
})
