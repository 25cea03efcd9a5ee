import { encodeYaml, parseYaml } from '@kubewright/api'
import { expect, test } from 'vitest'
import { yamlLines } from './yaml-lines.ts'

const object = {
  apiVersion: 'v1',
  metadata: { labels: { 'a/b': 'true', empty: '' }, name: 'x' },
  spec: {
    args: ['--a', ['nested', 'list'], {}],
    containers: [{ image: 'web', ports: [{ port: 80 }] }, { image: 'b' }],
    script: 'line 1\nline 2\n',
    none: null,
    nothing: [],
  },
}

test('yamlLines() writes the text of kubectl', () => {
  const lines = yamlLines(object)
  expect(`${lines.map(({ text }) => text).join('\n')}\n`).toBe(encodeYaml(object))
})

test('yamlLines() names the field of each line', () => {
  const byText = new Map(yamlLines(object).map(({ text, path }) => [text.trim(), path]))
  expect(byText.get('- image: web')).toEqual(['spec', 'containers', 0, 'image'])
  expect(byText.get('- port: 80')).toEqual(['spec', 'containers', 0, 'ports', 0, 'port'])
  expect(byText.get('line 2')).toEqual(['spec', 'script'])
  expect(byText.get('a/b: "true"')).toEqual(['metadata', 'labels', 'a/b'])
})

test('yamlLines() keeps hostile keys and values one value', () => {
  const hostile = { 'a: b': '<script>', '- x': '# no comment', "'": '---\nkind: Other', '\u0000': 'nul' }
  const text = yamlLines(hostile)
    .map((line) => line.text)
    .join('\n')
  expect(parseYaml(text)).toEqual(hostile)
})
