import { crdOf, defineResource } from '@kubewright/api'
import { schemaOf } from '@kubewright/k8s/schemas'
import { compileSchema, s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { sampleOf, sampleProblems } from './sample-of.ts'

describe('sampleOf()', () => {
  test('contains exactly the required fields, with valid values', () => {
    const Home = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Home',
      spec: s.object({
        image: s.string({ minLength: 30 }),
        mode: s.enum('Copy', 'Mirror'),
        port: s.int({ minimum: 1000, multipleOf: 7 }),
        host: s.string({ format: 'hostname' }),
        nested: s.object({ on: s.bool(), tags: s.array(s.string(), { minItems: 2 }) }),
        replicas: s.int().default(1),
        note: s.string().optional(),
      }),
    })
    const sample = sampleOf(crdOf(Home), 'home')
    expect(sample).toMatchObject({ apiVersion: 'ajd.example.com/v1', kind: 'Home', metadata: { name: 'home-sample' } })
    expect(sample['spec']).toEqual({
      image: 'nginx:1.27xxxxxxxxxxxxxxxxxxxx',
      mode: 'Copy',
      port: 1001,
      host: 'example.com',
      nested: { on: false, tags: ['example-tags', 'example-tags'] },
    })
    const schema = compileSchema(crdOf(Home).spec.versions[0]!.schema.openAPIV3Schema)
    expect(schema.validate(sample)).toEqual([])
  })

  test('satisfies patterns, and contains runnable pod templates', () => {
    const Backup = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Backup',
      spec: s.object({
        schedule: s.string({ pattern: /^(\S+ ){4}\S+$/ }),
        version: s.string({ pattern: /^v\d+\.\d+\.\d+$/ }),
        jobTemplate: s.from(schemaOf('io.k8s.api.batch.v1.JobTemplateSpec')),
      }),
    })
    const sample = sampleOf(crdOf(Backup), 'backup')
    const pod = { containers: [{ name: 'main', image: 'nginx:1.27' }], restartPolicy: 'OnFailure' }
    const jobTemplate = { spec: { template: { spec: pod } } }
    expect(sample['spec']).toEqual({ schedule: '*/5 * * * *', version: 'v1.0.0', jobTemplate })
    expect(sampleProblems(crdOf(Backup), sample)).toEqual([])
  })

  test('has a name of its own in each further version', () => {
    const spec = s.object({ size: s.int() })
    const Home = defineResource({
      group: 'ajd.example.com',
      kind: 'Home',
      versions: { v1: { spec }, v2: { storage: true, spec } },
    })
    const names = ['v1', 'v2'].map((version) => sampleOf(crdOf(Home), 'home', version).metadata.name)
    expect(names).toEqual(['home-sample', 'home-sample-v2'])
  })
})

describe('sampleProblems()', () => {
  test('lists what rules reject', () => {
    const Range = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Range',
      spec: s.object({ low: s.int(), high: s.int() }).rule('self.low < self.high', 'low must be less than high'),
    })
    const sample = sampleOf(crdOf(Range), 'range')
    expect(sampleProblems(crdOf(Range), sample)).toEqual([expect.stringContaining('low must be less than high')])
  })
})
