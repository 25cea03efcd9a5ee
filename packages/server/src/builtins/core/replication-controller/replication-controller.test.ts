import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownTemplate } from '../../../testdata/workload-object.ts'
import { replicationControllers } from './replication-controller.ts'

const { createErrors, prepared, updated } = strategyHarness(replicationControllers)

describe('replication controllers', () => {
  test.each<[string, object, string[]]>([
    [
      'negative replicas and a missing template',
      { spec: { replicas: -1, selector: { a: 'b' } } },
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0', 'spec.template: Required value'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(
      await createErrors({ apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'x' }, ...fields }),
    ).toEqual(errors)
  })

  test('default selector and labels from the template', () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx:1.25' }] } }
    const object = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'rc' }, spec: { template } }
    expect(prepared(object)).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { replicas: 1, selector: { a: 'b' } },
    })
  })

  test('default the labels when a write of the status has neither labels nor template', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx:1.25' }] } }
    const object = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'rc' }, spec: { template } }
    const written = await updated(
      object,
      (controller) => {
        delete controller.metadata.labels
        delete controller['spec']
      },
      'status',
    )
    expect(written.object.metadata.labels).toEqual({ a: 'b' })
  })

  test('show replicas, containers and the selector', () => {
    expect(
      cellsOf(replicationControllers, {
        spec: { replicas: 3, selector: { a: 'b' }, template: shownTemplate },
        status: { replicas: 2, readyReplicas: 1 },
      }),
    ).toEqual(['x', 3, 2, 1, '60m', 'c1,c2', 'i1,i2', 'a=b'])
  })
})
