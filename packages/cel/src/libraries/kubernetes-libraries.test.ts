import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CostMeter } from '../expression.ts'
import { AUTHORIZER_TYPE, CelAuthorizerValue } from './authorizer.ts'
import { jsonPatchLibrary } from './json-patch.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({
  libraries: [...kubernetesLibraries, jsonPatchLibrary],
  variables: { authorizer: AUTHORIZER_TYPE },
})
const authorizer = new CelAuthorizerValue({ authorize: () => ({ allowed: true, reason: '' }) })
const DEPLOYMENT = "authorizer.group('apps').resource('deployments')"
const NODE = 'spec.nodeName=example-node-name.fully.qualified.domain.name.example.com'

/** Expression, lower and upper estimate, and actual cost. The numbers were computed by kube-apiserver. */
const COSTS: [string, number, number, number][] = [
  ["'0123456789'.indexOf('12')", 1, 1, 1],
  ["'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3, 3, 3],
  ["strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')", 7, 11, 9],
  ["'abc 123 def 123'.replace('123', '456')", 3, 3, 3],
  ["'abc 123 def 123'.split(' ')", 3, 3, 3],
  ["'abc 123 def 123'.substring(5, 8)", 2, 2, 2],
  ["'  abc 123 def 123  '.trim()", 2, 2, 2],
  ["'abc 123 def 123'.find('123')", 2, 2, 2],
  ["'abc 123 def 123'.findAll('123', 1)", 2, 2, 2],
  ["jsonpatch.escapeKey('abc/def~ abc/def~')", 2, 2, 2],
  ["url('https:://kubernetes.io/').getQuery()", 4, 4, 4],
  ["url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", 7, 9, 7],
  ["ip('2001:db8:3333:4444:5555:6666:7777:8888').family()", 5, 5, 5],
  ["ip.isCanonical('192.168.0.1')", 3, 3, 3],
  ["ip('192.168.0.1') == ip('192.168.0.1')", 5, 5, 5],
  ["cidr('192.168.0.0/16').ip()", 3, 3, 3],
  ["cidr('192.168.0.0/16').containsIP('192.169.0.1')", 5, 8, 5],
  ["cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", 7, 11, 7],
  ["cidr('2001:db8::/32').containsIP(ip('2001:db8:3333:4444:5555:6666:7777:8888'))", 7, 10, 7],
  ["quantity('50k').add(quantity('20')) == quantity('50.02k')", 5, 5, 5],
  ["quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')", 3, 6, 6],
  ["semver('1.2.3').major()", 2, 2, 2],
  ["format.named('dns1123Subdomain').value().validate('my-name')", 34, 34, 17],
  ["format.named('dns1123Label').value() == format.named('dns1123Label').value()", 5, 11, 5],
  [`${DEPLOYMENT}.subresource('status').namespace('test').name('backend')`, 6, 6, 6],
  [`authorizer.group('').resource('pods').fieldSelector('${NODE}')`, 1821, 1821, 1821],
  ["authorizer.path('/healthz').check('get').allowed()", 350003, 350003, 350003],
]

test.each(COSTS)('%s is estimated at %d to %d and costs %d', (source, min, max, cost) => {
  const expression = env.compile(source)
  const meter = new CostMeter()
  expression.evaluate({ authorizer }, meter)
  expect([expression.estimateCost(), meter.cost]).toEqual([{ min, max }, cost])
})

/** Lists of constants are created at compile time: the estimate is 10 each, but the run-time cost is 0. */
const LIST_COSTS: [string, number, number][] = [
  ['[1, 2, 3, 4, 5].sum()', 15, 5],
  ['[1, 2, 3, 4, 5].indexOf(3)', 15, 5],
  ['sets.contains([1, 2, 3, 4], [2, 3])', 29, 9],
  ['sets.equivalent([1, 1], [1])', 25, 5],
  ['[1, 2, 3].reverse()', 24, 14],
  ['[1, 2, 3].slice(0, 2)', 23, 13],
  ['[[1], [2]].flatten()', 43, 13],
  ['lists.range(3)', 14, 14],
  ['[3, 1, 2].sort()', 39, 29],
  ['[1, 2, 2].distinct()', 39, 29],
]

test.each(LIST_COSTS)('%s is estimated at %d and costs %d', (source, estimate, cost) => {
  const expression = env.compile(source)
  const meter = new CostMeter()
  expression.evaluate({}, meter)
  expect([expression.estimateCost(), meter.cost]).toEqual([{ min: estimate, max: estimate }, cost])
})
