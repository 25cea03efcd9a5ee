import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crdsIn, objectsIn, unusableCrdsIn } from './crds-in.ts'
import { documentsOf, readManifests } from './read-manifests.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'))
  mkdirSync(join(folder, 'b'))
  mkdirSync(join(folder, 'node_modules'))
  writeFileSync(join(folder, 'c.yaml'), 'a: 1\n---\na: 2\n')
  writeFileSync(join(folder, 'b', 'x.json'), '{"a": 3}')
  writeFileSync(join(folder, 'notes.txt'), 'a: 4')
  writeFileSync(join(folder, 'node_modules', 'y.yaml'), 'a: 5')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('readManifests()', () => {
  test('reads folders recursively in order, and named files of any extension', async () => {
    const found = await readManifests([folder, join(folder, 'notes.txt')])
    expect(found.map(({ value }) => value)).toEqual([{ a: 3 }, { a: 1 }, { a: 2 }, { a: 4 }])
  })

  test('skips kustomizations and patches in a folder, but reads named files', async () => {
    const config = join(folder, 'b', 'config')
    mkdirSync(join(config, 'patches'), { recursive: true })
    const kustomization = `resources: [a.yaml]
configurations: [kustomizeconfig.yaml]
patches: [{ path: patches/one.yaml }, { patch: "- op: remove\\n" }]
patchesStrategicMerge: [two.yaml]
`
    writeFileSync(join(config, 'kustomization.yaml'), kustomization)
    for (const file of ['a.yaml', 'kustomizeconfig.yaml', 'patches/one.yaml', 'two.yaml']) {
      writeFileSync(join(config, file), `file: ${file}\n`)
    }
    const values = (await readManifests([config, join(config, 'two.yaml')])).map(({ value }) => value)
    rmSync(config, { recursive: true })
    expect(values).toEqual([{ file: 'a.yaml' }, { file: 'two.yaml' }])
  })

  test('reads the standard input', async () => {
    async function* stdin(): AsyncGenerator<string> {
      yield 'a: '
      yield '1'
    }
    expect(await readManifests(['-'], { stdin: stdin() })).toEqual([
      { file: '-', line: 1, text: 'a: 1\n', value: { a: 1 } },
    ])
  })

  test('refuses URLs and names the fix', async () => {
    await expect(readManifests(['https://example.com/crd.yaml'])).rejects.toThrow(
      'curl -fsSL -o FILE https://example.com',
    )
  })
})

describe('documentsOf()', () => {
  test('reports the first line of each document', () => {
    const documents = documentsOf('# about\n\na: 1\n---\n# nothing\n---\n\n# b\nb: 2\n', 'f')
    expect(documents.map(({ line, value }) => [line, value])).toEqual([
      [3, { a: 1 }],
      [9, { b: 2 }],
    ])
  })

  test('reports invalid documents and parses the others', () => {
    const documents = documentsOf('a: [\n---\nb: 2\n', 'f')
    expect(documents[0]?.problem).toContain('error converting YAML to JSON')
    expect(documents[1]?.value).toEqual({ b: 2 })
    expect(documentsOf('--- x\na: 1\n', 'f')[0]?.problem).toBe('invalid Yaml document separator: x')
    expect(documentsOf('{"a" 1', 'f')[0]?.problem).toContain('json: ')
  })

  test('parses concatenated JSON objects', () => {
    expect(documentsOf('{"a":1} {"a":2}', 'f').map(({ text }) => text)).toEqual(['{"a":1}', '{"a":2}'])
  })
})

describe('objectsIn() and crdsIn()', () => {
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'x' },
    spec: { names: {}, versions: [] },
  }
  test('split lists', () => {
    const list = { kind: 'List', items: [crd, { kind: 'ConfigMapList', items: [{ kind: 'ConfigMap' }] }] }
    expect(objectsIn(list)).toEqual([crd, { kind: 'ConfigMap' }])
    expect(crdsIn([{ file: '', line: 1, text: '', value: list }])).toEqual([crd])
    expect(objectsIn(3)).toEqual([])
  })

  test('skip CRDs that are incomplete or of other API versions', () => {
    const values = [
      { ...crd, apiVersion: 'apiextensions.k8s.io/v1beta1' },
      { ...crd, spec: {} },
      { ...crd, metadata: null },
    ]
    const documents = values.map((value) => ({ file: '', line: 1, text: '', value }))
    expect(crdsIn(documents)).toEqual([])
    expect(unusableCrdsIn(documents)).toEqual([
      { name: 'x', reason: expect.stringContaining('apiextensions.k8s.io/v1beta1') },
      { name: 'x', reason: 'it has no spec.names or no spec.versions' },
      { name: 'a CRD', reason: 'it has no spec.names or no spec.versions' },
    ])
  })

  test('convert bounds to floats but keep values', () => {
    const value = documentsOf(
      JSON.stringify(crd).replace('[]', '[{"maximum":9223372036854775807,"default":9223372036854775806}]'),
      '',
    )
    expect(crdsIn(value)[0]?.spec.versions).toEqual([{ maximum: 2 ** 63, default: 9223372036854775806n }])
  })
})
