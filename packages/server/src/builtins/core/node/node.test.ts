import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { nodes } from './node.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(nodes)

describe('nodes', () => {
  test.each<[string, object, string[]]>([
    ['taints without effect', { spec: { taints: [{ key: 'k' }] } }, ['metadata.taints[0].effect: Required value']],
    [
      'invalid pod CIDRs',
      { spec: { podCIDRs: ['x'] } },
      ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, ...fields })).toEqual(errors)
  })

  test('show status, roles and addresses', () => {
    expect(
      cellsOf(nodes, {
        metadata: {
          labels: {
            'node-role.kubernetes.io/worker': '',
            'node-role.kubernetes.io/': '',
            'kubernetes.io/role': 'edge',
          },
        },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'Unknown' }],
          nodeInfo: { kubeletVersion: 'v1.35.8', osImage: 'Linux' },
          addresses: [
            { type: 'Hostname', address: 'h' },
            { type: 'InternalIP', address: '10.0.0.9' },
          ],
        },
      }),
    ).toEqual([
      'x',
      'NotReady,SchedulingDisabled',
      'edge,worker',
      '60m',
      'v1.35.8',
      '10.0.0.9',
      '<none>',
      'Linux',
      '<unknown>',
      '<unknown>',
    ])
  })

  test('keep the status of the create and the pod CIDR', async () => {
    const { body } = await client.create(
      '/api/v1/nodes',
      named('n', { spec: { podCIDR: '10.1.0.0/24' }, status: { capacity: { cpu: '4' } } }),
    )
    expect(body).toMatchObject({
      spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] },
      status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } },
    })
    expect(
      problemOf(await client.patch('/api/v1/nodes/n', { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'] } })),
    ).toBe('spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid')
    expect(problemOf(await client.patch('/api/v1/nodes/n', { spec: { podCIDR: '10.2.0.0/24' } }))).toBe(
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    )
  })
})
