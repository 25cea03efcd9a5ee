import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { serviceCidrs } from './service-cidr.ts'

const { createErrors, updated } = strategyHarness(serviceCidrs)

function object(kind: string, spec: object, name = 'n'): object {
  return { apiVersion: 'networking.k8s.io/v1', kind, metadata: { name }, spec }
}

describe('service CIDRs', () => {
  test.each<[string, string[], string[]]>([
    ['accept one CIDR of each family', ['10.0.0.0/16', '2001:db8::/64'], []],
    ['require a CIDR', [], ['spec.cidrs: Required value: at least one CIDR required']],
    [
      'reject two CIDRs of one family',
      ['10.0.0.0/16', '10.1.0.0/16'],
      [
        'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      'reject host bits',
      ['10.0.0.1/16'],
      ['spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length'],
    ],
  ])('%s', async (_, cidrs, errors) => {
    expect(await createErrors(object('ServiceCIDR', { cidrs }))).toEqual(errors)
  })

  test('allow an update to add a CIDR of the other family', async () => {
    const grow = await updated(object('ServiceCIDR', { cidrs: ['10.0.0.0/16'] }), (next) => {
      next['spec'] = { cidrs: ['10.0.0.0/16', '2001:db8::/64'] }
    })
    expect(grow.errors).toEqual([])
  })

  test('show all CIDRs', () => {
    expect(cellsOf(serviceCidrs, { spec: { cidrs: ['10.0.0.0/16', 'fd00::/64'] } })).toEqual([
      'x',
      '10.0.0.0/16,fd00::/64',
      '60m',
    ])
  })
})
