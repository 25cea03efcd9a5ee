import { defineResource } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { configFiles } from './config-files.ts'
import { describeOperator } from './operator-description.ts'

const captain = (group: string) =>
  defineResource({ group, version: 'v1', kind: 'Captain', spec: s.object({}), status: s.object({}) })
const operator = describeOperator(
  defineOperator({
    name: 'ships',
    controllers: [],
    kinds: [captain('sea.deep.example.com'), captain('sea.wide.example.com')],
  }),
)
const names = (folder: string, samples?: ReadonlyMap<string, string>): string[] =>
  [...configFiles(operator, { samples }).keys()].flatMap((path) =>
    path.startsWith(`config/${folder}/`) ? [path.slice(folder.length + 8)] : [],
  )

describe('configFiles()', () => {
  test('uses full group names if the first labels are equal', () => {
    expect(names('rbac').filter((name) => name.endsWith('viewer_role.yaml'))).toEqual([
      'sea_deep_example_com_captain_viewer_role.yaml',
      'sea_wide_example_com_captain_viewer_role.yaml',
    ])
    expect(names('samples')).toEqual([
      'sea.deep.example.com_v1_captain.yaml',
      'sea.wide.example.com_v1_captain.yaml',
      'kustomization.yaml',
    ])
  })

  test('writes no sample if the user has written one in any file', () => {
    const own = 'apiVersion: sea.deep.example.com/v1\nkind: Captain\nmetadata: { name: nemo }\n'
    const samples = new Map([
      ['nemo.yaml', `# mine\n---\n${own}`],
      ['broken.yaml', 'a: b: c\n'],
    ])
    expect(names('samples', samples)).toEqual(['sea.wide.example.com_v1_captain.yaml', 'kustomization.yaml'])
    const { text } = configFiles(operator, { samples }).get('config/samples/kustomization.yaml')!
    expect(text.split('\n').slice(1)).toEqual([
      'resources:',
      '- broken.yaml',
      '- nemo.yaml',
      '- sea.wide.example.com_v1_captain.yaml',
      '',
    ])
  })

  test('replaces only an unchanged scaffolded sample whose fields no longer exist', () => {
    const begun =
      'apiVersion: sea.deep.example.com/v1\nkind: Captain\nmetadata:\n  name: captain-sample\nspec:\n  foo: bar\n'
    const file = 'sea_v1_captain.yaml'
    const made = (text: string, fields: Parameters<typeof s.object>[0]) => {
      const kind = defineResource({
        group: 'sea.deep.example.com',
        kind: 'Captain',
        versions: { v1: { spec: s.object(fields) }, v2: { storage: true, spec: s.object({ ship: s.string() }) } },
        conversion: 'none',
      })
      const described = describeOperator(defineOperator({ name: 'ships', controllers: [], kinds: [kind] }))
      return configFiles(described, { samples: new Map([[file, text]]) }).get(`config/samples/${file}`)
    }
    const old = made(begun, { ship: s.string() })
    expect(old).toMatchObject({ care: 'derived', text: expect.stringContaining('\nspec:\n  ship: example-ship\n') })
    expect(old?.text).toMatch(/^apiVersion: sea.deep.example.com\/v1\n/)
    // The sample of the storage version is kept up to date from now on.
    expect(made(begun.replace('/v1', '/v2'), {})?.text).toMatch(/^# By kubewright generate;/)
    expect(made(begun, { foo: s.string() })).toBeUndefined()
    expect(made(begun.replace('bar', 'baz'), { ship: s.string() })).toBeUndefined()
  })
})
