import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { networkPolicies } from './network-policy.ts'

const { createErrors, defaulted } = strategyHarness(networkPolicies)

function object(kind: string, spec: object, name = 'n'): object {
  return { apiVersion: 'networking.k8s.io/v1', kind, metadata: { name }, spec }
}

describe('network policies', () => {
  test('default policy types from the rules', () => {
    expect(defaulted(object('NetworkPolicy', { podSelector: {}, egress: [{}] }))['spec']).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
    })
  })

  test.each<[string, object, string[]]>([
    [
      'reject an end port before the port',
      { ingress: [{ ports: [{ port: 90, endPort: 80 }] }] },
      ['spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`'],
    ],
    ['require a peer', { ingress: [{ from: [{}] }] }, ['spec.ingress[0].from[0]: Required value: must specify a peer']],
    [
      'reject exceptions outside the block',
      { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/16', except: ['10.1.0.0/24', '10.0.1.0/24'] } }] }] },
      ['spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": must be a strict subset of `cidr`'],
    ],
    [
      'reject an invalid CIDR',
      { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0' } }] }] },
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'reject unknown policy types',
      { policyTypes: ['Odd'] },
      ['spec.policyTypes[0]: Unsupported value: "Odd": supported values: "Ingress", "Egress"'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(object('NetworkPolicy', { podSelector: {}, ...spec }))).toEqual(errors)
  })

  test('show <none> for a selector that matches all pods', () => {
    expect(cellsOf(networkPolicies, { spec: { podSelector: {} } })).toEqual(['x', '<none>', '60m'])
  })
})
