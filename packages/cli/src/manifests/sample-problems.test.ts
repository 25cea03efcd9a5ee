import { defineResource } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { configFiles } from './config-files.ts'
import { describeOperator } from './operator-description.ts'
import { sampleProblemsIn } from './sample-problems.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ rooms: s.int({ minimum: 2 }) }),
})
const operator = describeOperator(defineOperator({ name: 'homes', controllers: [], kinds: [Home] }))
const sample = (more: string): Map<string, string> =>
  new Map([['config/samples/home.yaml', `apiVersion: ajd.example.com/v1\nkind: Home\n${more}`]])

describe('sampleProblemsIn()', () => {
  test('accepts generated samples, which have no namespace', () => {
    const texts = new Map([...configFiles(operator)].map(([path, { text }]) => [path, text]))
    const samples = [...texts].filter(([path]) => path.startsWith('config/samples/'))
    expect(samples).toHaveLength(2)
    expect(JSON.stringify(samples)).not.toContain('namespace')
    expect(sampleProblemsIn(operator, texts)).toEqual([])
  })

  test.each([
    ['metadata: {name: a}\nspec: {rooms: 1}\n', 'should be greater than or equal to 2'],
    ['metadata: {name: a, namespace: b}\nspec: {rooms: 2}\n', 'metadata.namespace is b: remove it'],
    ['metadata: [\n', 'yaml: '],
  ])('reports problems of the samples of the user: %j', (text, message) => {
    const [problem] = sampleProblemsIn(operator, sample(text))
    expect(problem).toMatchObject({ severity: 'warning', path: 'config/samples/home.yaml' })
    expect(problem?.message).toContain(message)
  })
})
