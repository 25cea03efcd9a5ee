import { describe, expect, test } from 'vitest'
import { buildKustomization } from './build-kustomization.ts'

const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: here}\ndata: {a: b}\n'

const build = (files: Readonly<Record<string, string>>) =>
  buildKustomization(new Map(Object.entries({ 'a/map.yaml': map, ...files })), 'a')

const kustomization =
  (text: string, more: Readonly<Record<string, string>> = {}) =>
  () =>
    build({ 'a/kustomization.yaml': text, ...more })

describe('buildKustomization()', () => {
  test('reports the file of each object', () => {
    const built = build({
      'a/kustomization.yaml': 'resources: [map.yaml, ../b]\nconfigMapGenerator: [{name: made, literals: [a=b]}]\n',
      'b/kustomization.yml': 'resources: [other.yaml]\n',
      'b/other.yaml': map.replace('settings', 'other'),
    })
    expect(built.map(({ file }) => file)).toEqual(['a/map.yaml', 'b/other.yaml', 'a/kustomization.yaml'])
  })

  test('drops objects with the annotation for local configuration', () => {
    const local = map.replace('namespace', 'annotations: {config.kubernetes.io/local-config: "true"}, namespace')
    expect(kustomization('resources: [local.yaml]', { 'a/local.yaml': local })()).toEqual([])
  })

  test('does not modify the parsed files, so that a base can be built twice', () => {
    const files = { 'a/kustomization.yaml': 'resources: [map.yaml]\nnamePrefix: pre-\n' }
    expect(build(files)).toEqual(build(files))
  })

  test('applies the edit of the options to each kustomization', () => {
    const texts = new Map([
      ['a/kustomization.yaml', 'resources: [map.yaml]\n'],
      ['a/map.yaml', map],
    ])
    const edit = (folder: string, fields: object) => ({ ...fields, nameSuffix: `-in-${folder}` })
    const [first] = buildKustomization(texts, 'a', { edit })
    expect(first?.object['metadata']).toMatchObject({ name: 'settings-in-a' })
  })

  const component = { 'b/kustomization.yaml': 'kind: Component\nresources: []\n' }
  const patch = (text: string) => `resources: [map.yaml]\npatches:\n- ${text}\n`
  test.each([
    ['helmCharts: []', {}, 'a/kustomization.yaml: kubewright does not support the field helmCharts of kustomizations'],
    ['helmCharts: []', {}, 'kubectl kustomize a'],
    ['resources: ["https://example.com/x"]', {}, 'the remote resource https://example.com/x'],
    ['resources: [none.yaml]', {}, 'a/kustomization.yaml names a/none.yaml, which is neither a file nor a folder'],
    ['resources: [../a]', {}, 'a/kustomization.yaml includes itself'],
    ['resources: [../b]', component, 'lists b under resources, but it is a component: move it to the list components'],
    ['components: [../b]', { 'b/kustomization.yaml': 'resources: []' }, 'is not a component: move it to resources'],
    ['resources: {}', {}, 'a/kustomization.yaml: resources must be a list'],
    ['resources: [1]', {}, 'resources must be a list of strings'],
    ['images: [a]', {}, 'images must be a list of objects'],
    ['kind: Other', {}, 'kind must be Kustomization or Component, not Other'],
    ['a: [', {}, 'a/kustomization.yaml is not valid: '],
    ['resources: [map.yaml, map.yaml]', {}, 'ConfigMap here/settings, which exists already'],
    ['resources: [bad.yaml]', { 'a/bad.yaml': 'kind: X' }, 'a/bad.yaml contains an object without apiVersion'],
    ['replicas: [{name: x, count: 1}]', {}, 'replicas names x, but no workload has this name'],
    ['configMapGenerator: [{name: x, files: [z]}]', {}, 'z does not exist'],
    ['configMapGenerator: [{name: x, literals: [z]}]', {}, '"z" must have the form KEY=VALUE'],
    ['configMapGenerator: [{name: x, behavior: merge}]', {}, 'changes x, which does not exist'],
    ['labels: [{pairs: {a: b}, fields: []}]', {}, 'labels.fields'],
    ['transformers: [t.yaml]', { 'a/t.yaml': 'apiVersion: builtin\nkind: Other' }, 'the transformer Other'],
    ['configurations: [c.yaml]', { 'a/c.yaml': 'varReference: []' }, 'the configuration varReference'],
    [patch('{path: none.yaml}'), {}, 'a/kustomization.yaml names none.yaml, which does not exist'],
    [patch('{}'), {}, 'a patch must have either path or patch'],
    [patch('{patch: "[]"}'), {}, 'needs a target'],
    [patch('{path: map.yaml, options: {allowNameChange: true}}'), {}, 'options of patches'],
    [
      patch('{patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}"}'),
      {},
      'is for ConfigMap settings, which does not exist: did you mean ConfigMap here/settings?',
    ],
    [
      patch('{target: {kind: ConfigMap}, patch: "[{op: remove, path: /data/none}]"}'),
      {},
      'the patch a/kustomization.yaml cannot be applied to ConfigMap here/settings: ',
    ],
  ])('names the cause of an error: %s', (text, more, message) => {
    expect(kustomization(text, more)).toThrow(message)
  })
})
