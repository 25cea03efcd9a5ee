import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import type { PodTemplateSpec } from './index.ts'
import { defaultRelease } from './releases.ts'
import { schemaNames, schemaOf } from './schemas.ts'

/** All references in a published schema. */
function references(value: unknown, found: string[] = []): string[] {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') found.push(inner)
      else references(inner, found)
    }
  }
  return found
}

describe('Release.publishedSchema() for v3', () => {
  test('publishes every definition with references that resolve', () => {
    const names = new Set(schemaNames())
    expect(names.size).toBe(570)
    let count = 0
    for (const name of names) {
      for (const ref of references(defaultRelease.publishedSchema(name, 'v3'))) {
        count++
        expect(names).toContain(ref.replace('#/components/schemas/', ''))
      }
    }
    expect(count).toBeGreaterThan(900)
  })

  test('wraps a reference with further keywords in allOf', () => {
    expect(defaultRelease.publishedSchema('io.k8s.api.apps.v1.DeploymentSpec', 'v3')).toEqual({
      type: 'object',
      required: ['selector', 'template'],
      properties: {
        minReadySeconds: { type: 'integer', format: 'int32' },
        paused: { type: 'boolean' },
        progressDeadlineSeconds: { type: 'integer', format: 'int32' },
        replicas: { type: 'integer', format: 'int32' },
        revisionHistoryLimit: { type: 'integer', format: 'int32' },
        selector: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector' }] },
        strategy: {
          default: {},
          allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
          'x-kubernetes-patch-strategy': 'retainKeys',
        },
        template: { default: {}, allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }] },
      },
    })
  })

  test('publishes types with custom marshalling', () => {
    expect(defaultRelease.publishedSchema('io.k8s.apimachinery.pkg.api.resource.Quantity', 'v3')).toEqual({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    })
    expect(defaultRelease.publishedSchema('io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'v3')).toEqual({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    })
  })
})

describe('Release.publishedSchema() for v2', () => {
  test('refers to definitions directly and has no defaults', () => {
    expect(defaultRelease.publishedSchema('io.k8s.api.core.v1.ContainerPort', 'v2')).toEqual({
      type: 'object',
      required: ['containerPort'],
      properties: {
        containerPort: { type: 'integer', format: 'int32' },
        hostIP: { type: 'string' },
        hostPort: { type: 'integer', format: 'int32' },
        name: { type: 'string' },
        protocol: { type: 'string', enum: ['SCTP', 'TCP', 'UDP'] },
      },
    })
    expect(
      defaultRelease.publishedSchema('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', 'v2').properties?.['selector'],
    ).toEqual({
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector',
      'x-kubernetes-patch-strategy': 'replace',
    })
  })

  test('names the missing definition', () => {
    expect(() => defaultRelease.publishedSchema('io.k8s.api.core.v1.Home', 'v2')).toThrow(
      'Cannot find a schema: io.k8s.api.core.v1.Home is not built in; schemaNames() lists the built-in schemas',
    )
    expect(() => defaultRelease.publishedSchema('com.example.v1.Pod', 'v2')).toThrow(
      'com.example.v1.Pod is not built in',
    )
  })
})

describe('schemaOf()', () => {
  test('resolves the references of a part', () => {
    const schema = schemaOf('io.k8s.api.core.v1.ResourceRequirements')
    expect(schema.properties?.['claims']?.items?.properties?.['name']).toEqual({ type: 'string', default: '' })
    expect(schemaOf('io.k8s.api.core.v1.ResourceRequirements')).toBe(schema)
  })

  test('can be embedded in a custom resource', () => {
    const json = s.from<PodTemplateSpec>(schemaOf('io.k8s.api.core.v1.PodTemplateSpec')).json
    const container = json.properties?.['spec']?.properties?.['containers']?.items
    expect(container?.required).toEqual(['name'])
    expect(container?.properties?.['ports']).not.toHaveProperty('x-kubernetes-patch-merge-key')
    expect(JSON.stringify(json)).not.toContain('$ref')
  })

  test('embeds without the enums that controller-gen does not emit', () => {
    const template = schemaOf('io.k8s.api.batch.v1.JobTemplateSpec')
    expect(JSON.stringify(template)).toContain('"enum"')
    const { json } = s.from(template)
    const pod = json.properties?.['spec']?.properties?.['template']?.properties?.['spec']
    expect(pod?.properties?.['containers']?.items?.properties?.['imagePullPolicy']).toEqual({ type: 'string' })
    expect(JSON.stringify(json)).not.toContain('"enum"')
  })
})
