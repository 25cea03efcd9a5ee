import { describe, expect, test } from 'vitest'
import { serverAddresses, urlOf } from './server-addresses.ts'

describe('serverAddresses()', () => {
  const machine = ['127.0.0.1', '192.0.2.7', '::1', '2001:db8::7']

  test('exposes nothing on a loopback address, which is the default', () => {
    expect(serverAddresses({}, machine)).toEqual({
      bind: '127.0.0.1',
      local: '127.0.0.1',
      advertised: '192.0.2.7',
      exposed: [],
      certified: ['10.0.0.1'],
    })
  })

  test('advertises the address of the host for a server on a loopback address', () => {
    const advertised = (bindAddress: string, of = machine) =>
      serverAddresses({ serving: { bindAddress } }, of).advertised
    expect(advertised('::1')).toBe('2001:db8::7')
    expect(advertised('127.0.0.1', ['127.0.0.1', '2001:db8::7'])).toBe('2001:db8::7')
    expect(advertised('127.0.0.1', ['127.0.0.1', '::1', '169.254.1.2', 'fe80::1'])).toBeUndefined()
  })

  test('exposes every address of the machine on an unspecified address', () => {
    const serviceRanges = { clusterIpRange: '10.96.0.0/16' }
    expect(serverAddresses({ serving: { bindAddress: '0.0.0.0' }, serviceRanges }, machine)).toEqual({
      bind: '0.0.0.0',
      local: '127.0.0.1',
      advertised: '192.0.2.7',
      exposed: ['192.0.2.7'],
      certified: ['192.0.2.7', '10.96.0.1'],
    })
    const six = serverAddresses({ serving: { bindAddress: '::' } }, machine)
    expect(six.exposed.map((ip) => urlOf(ip, 6443))).toEqual(['https://192.0.2.7:6443', 'https://[2001:db8::7]:6443'])
  })
})
