import { crdOf, defineResource } from '@kubewright/api'
import { compileSchema, s } from '@kubewright/schema'
import { describe, expect, it } from 'vitest'
import { sampleOf } from './sample-of.ts'

describe('sampleOf()', () => {
  it('contains exactly the required fields, with valid values', () => {
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
      image: 'example-imagexxxxxxxxxxxxxxxxx',
      mode: 'Copy',
      port: 1001,
      host: 'example.com',
      nested: { on: false, tags: ['example-tags', 'example-tags'] },
    })
    const schema = compileSchema(crdOf(Home).spec.versions[0]!.schema.openAPIV3Schema)
    expect(schema.validate(sample)).toEqual([])
  })
})
