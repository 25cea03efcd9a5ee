import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { endpointSlices } from './endpoint-slice.ts'

const { createErrors, createWarnings, defaulted } = strategyHarness(endpointSlices)

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'n' },
  addressType: 'IPv4',
  endpoints: [],
}

describe('endpoint slices', () => {
  test('check addresses by address type', async () => {
    expect(
      await createErrors({
        ...slice,
        endpoints: [{ addresses: ['2001:db8::1'] }, { addresses: ['127.0.0.1'] }, { addresses: [] }],
      }),
    ).toEqual([
      'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
      'endpoints[1].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[2].addresses: Required value: must contain at least 1 address',
    ])
  })

  test('reject duplicate port names and unknown protocols', async () => {
    expect(await createErrors({ ...slice, ports: [{ name: 'a' }, { name: 'a', protocol: 'ODD' }] })).toEqual([
      'ports[1].name: Duplicate value: "a"',
      'ports[1].protocol: Unsupported value: "ODD": supported values: "SCTP", "TCP", "UDP"',
    ])
  })

  test('default the name and the protocol of ports', () => {
    expect(defaulted({ ...slice, ports: [{ port: 1 }] })).toMatchObject({
      ports: [{ name: '', port: 1, protocol: 'TCP' }],
    })
  })

  test('warn about addresses that are not canonical', () => {
    expect(createWarnings({ ...slice, endpoints: [{ addresses: ['010.0.0.1'] }] })).toEqual([
      'endpoints[0].addresses[0]: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: ' +
        'use "10.0.0.1"',
    ])
  })

  test('show ports and at most three addresses', () => {
    expect(
      cellsOf(endpointSlices, {
        addressType: 'IPv4',
        ports: [{ port: 80 }, { name: 'web' }, {}],
        endpoints: [{ addresses: ['1', '2'] }, { addresses: ['3', '4'] }],
      }),
    ).toEqual(['x', 'IPv4', '80,web,*', '1,2,3 + 1 more...', '60m'])
  })

  test('require a domain in the names of finalizers', () => {
    expect(endpointSlices.strategy?.anyFinalizer).toBeUndefined()
  })
})
