import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP(':::1') && !isIP('::ffff:1.2.3.4')",
  "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
  "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && ip.isCanonical('127.0.0.1')",
  "ip('0.0.0.0').isUnspecified() && ip('127.0.0.1').isLoopback() && ip('224.0.0.1').isLinkLocalMulticast()",
  "ip('fe80::1').isLinkLocalUnicast() && ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
  "string(ip('2001:DB8::1')) == '2001:db8::1' && ip('::1') == ip('0:0::1') && type(ip('::1')) == net.IP",
]

const FAILS: [string, string][] = [
  [
    "ip('192.168.0.1.0').family() == 4",
    'IP Address "192.168.0.1.0" parse error during conversion from string: ParseAddr("192.168.0.1.0"): IPv4 address too long',
  ],
  ["ip('fe80::1%eth0').family() == 6", 'IP address "fe80::1%eth0" with zone value is not allowed'],
  ["ip('::ffff:1.2.3.4').family() == 6", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  ["ip('::1') == dyn('::1')", 'no such overload'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
