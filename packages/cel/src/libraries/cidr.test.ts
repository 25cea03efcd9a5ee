import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33') && !isCIDR('::ffff:1.2.3.4/112')",
  "cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
  "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.10.0/24').containsCIDR(cidr('192.168.0.0/16'))",
  "cidr('192.168.0.1/24').ip() == ip('192.168.0.1') && cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
  "cidr('192.168.0.1/24') != cidr('192.168.0.0/24') && cidr('::1/128').prefixLength() == 128",
  "string(cidr('2001:DB8::/32')) == '2001:db8::/32'",
]

const CONTEXT = 'network address parse error during conversion from string'
const FAILS: [string, string][] = [
  [
    "cidr('192.168.0.0/').prefixLength() == 1",
    `${CONTEXT}: ${CONTEXT}: netip.ParsePrefix("192.168.0.0/"): bad bits after slash: ""`,
  ],
  [
    "cidr('10.0.0.0/8').containsIP('x')",
    'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
  ],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
