import { defineResource } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, it } from 'vitest'
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
  it('tells groups apart that begin with the same word', () => {
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

  it('makes no sample where there is one that somebody wrote, whatever its file is called', () => {
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
})
