import { crdOf, defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { resourceDescriptors } from './resource-descriptors.ts'

const ui = 'urn:alm:descriptor:com.tectonic.ui'

describe('resourceDescriptors()', () => {
  test('derives hints from the type of a field, not only from its name', () => {
    const Thing = defineResource({
      group: 'example.com',
      version: 'v1',
      kind: 'Thing',
      spec: s.object({
        replicas: s.int(),
        size: s.string(),
        mode: s.enum('A', 'B'),
        on: s.bool(),
        secretName: s.string(),
        resources: s.object({ limits: s.object({}), requests: s.object({}) }),
        limits: s.array(s.object({ name: s.string() })),
      }),
      status: s.object({ phase: s.string(), conditions: s.string(), ready: s.int() }),
    })
    const { openAPIV3Schema } = crdOf(Thing).spec.versions[0]!.schema
    const { specDescriptors, statusDescriptors } = resourceDescriptors(openAPIV3Schema)
    const hints = (list: typeof specDescriptors) =>
      Object.fromEntries(list.map((one) => [one.path, one['x-descriptors'] ?? []]))
    expect(hints(specDescriptors)).toMatchObject({
      replicas: [`${ui}:podCount`],
      size: [`${ui}:text`],
      mode: [`${ui}:select:A`, `${ui}:select:B`],
      on: [`${ui}:booleanSwitch`],
      secretName: ['urn:alm:descriptor:io.kubernetes:Secret'],
      resources: [`${ui}:resourceRequirements`],
      limits: [`${ui}:arrayFieldGroup:limits`],
    })
    expect(hints(statusDescriptors)).toEqual({
      phase: ['urn:alm:descriptor:io.kubernetes.phase'],
      conditions: ['urn:alm:descriptor:text'],
      ready: ['urn:alm:descriptor:text'],
    })
  })
})
