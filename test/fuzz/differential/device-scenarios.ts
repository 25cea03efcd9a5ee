// Scenarios about dynamic resource allocation: claims and their status, templates, slices and device classes.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateValue } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const root = '/apis/resource.k8s.io/v1'
const merge = { 'content-type': 'application/merge-patch+json' }
const longText = 'a'.repeat(64)

/** One value of a list whose first one is valid and drawn most often. */
function mostly<T>(random: Random, [valid, ...others]: readonly [T, ...T[]]): T {
  return others.length === 0 || chance(random, 0.8) ? valid : random.pick(others)
}

function maybe(random: Random, probability: number, make: () => Json): Json {
  return chance(random, probability) ? make() : {}
}

/** As many items as drawn: mostly few, sometimes more than every limit. */
function several<T>(random: Random, make: (index: number) => T): T[] {
  const length = random.pick([0, 1, 1, 1, 2, 2, 3])
  return Array.from({ length: chance(random, 0.03) ? 140 : length }, (_, i) => make(i))
}

const driverName = (random: Random): string =>
  mostly<string>(random, ['a.example', 'A.example', '', 'x!', longText, `${longText}.b`, 'b.example'])
const poolName = (random: Random): string =>
  mostly<string>(random, ['p', 'p/q', '', 'p//q', 'P', `${'a.'.repeat(127)}a`, '/', 'q'])
const deviceName = (random: Random): string => mostly<string>(random, ['d', 'd-1', '', 'D', longText, 'd.1', 'e'])
const requestName = (random: Random): string =>
  mostly<string>(random, ['r', 'r/s', 's', '', 'R', 'r/', '/s', 'r/s/t', longText, 'r/none'])

function parameters(random: Random): unknown {
  return mostly<unknown>(random, [{ a: 1 }, {}, null, [], 'x', 5, undefined, { a: 'x'.repeat(11_000) }])
}

function opaque(random: Random): Json {
  return mostly<Json>(random, [
    { opaque: { driver: driverName(random), parameters: parameters(random) } },
    {},
    { opaque: null },
    { opaque: {} },
  ])
}

function selector(random: Random): Json {
  const expression = random.pick([
    'device.driver == "a.example"',
    'device.attributes["a.example"].x == 1',
    'device.attributes["a.example"].size > 1 && device.capacity["a.example"].memory.compareTo(quantity("1Gi")) >= 0',
    'device.capacity["a.example"].memory',
    'device.none',
    'device.driver',
    '1',
    '',
    'device.',
    'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, a == b && b == c)))',
    'cel.bind(d, device.attributes["a.example"], d.x.isGreaterThan(semver("1.0.0")))',
    '"a.example" in device.attributes',
    'device.attributes["a.example"].?x.orValue(false)',
    'object.x',
    'device.allowMultipleAllocations == true',
    `"${'x'.repeat(11_000)}" == device.driver`,
  ])
  return mostly<Json>(random, [{ cel: { expression } }, {}, { cel: {} }, { cel: null }])
}

function toleration(random: Random): Json {
  return { key: random.pick(['a', 'x!', '']), operator: random.pick(['Exists', 'Equal', 'x', '']), value: 'v' }
}

function exactRequest(random: Random): Json {
  return {
    deviceClassName: mostly<string>(random, ['c', '', 'C', longText, `${longText}.${'a'.repeat(260)}`]),
    ...maybe(random, 0.4, () => ({ selectors: several(random, () => selector(random)) })),
    ...maybe(random, 0.4, () => ({ allocationMode: random.pick(['ExactCount', 'All', 'x', '']) })),
    ...maybe(random, 0.4, () => ({ count: random.pick([1, 2, 0, -1]) })),
    ...maybe(random, 0.15, () => ({ tolerations: several(random, () => toleration(random)) })),
    ...maybe(random, 0.1, () => ({ capacity: { requests: { memory: '1Gi' } } })),
  }
}

function deviceRequest(random: Random, index: number): Json {
  const name = index === 0 ? mostly<string>(random, ['r', '', 'R', longText]) : random.pick(['s', 't', 'r'])
  const exactly = (): Json => ({
    exactly: { ...exactRequest(random), ...maybe(random, 0.1, () => ({ adminAccess: chance(random, 0.7) })) },
  })
  const alternatives = (): Json => ({
    firstAvailable: several(random, (i) => ({
      name: i === 0 ? mostly<string>(random, ['s', '', 'S', 't']) : 't',
      ...exactRequest(random),
    })),
  })
  return {
    name,
    ...mostly<() => Json>(random, [exactly, alternatives, () => ({}), () => ({ ...exactly(), ...alternatives() })])(),
  }
}

function claimSpec(random: Random): Json {
  const references = (): string[] => several(random, () => requestName(random))
  const attribute = (): string =>
    mostly<string>(random, ['a.example/x', 'x', '', '/', '/x', 'a.example/', 'a/b/c', 'a.example/x!', `a/${longText}`])
  return {
    devices: {
      requests: several(random, (i) => deviceRequest(random, i)),
      ...maybe(random, 0.3, () => ({
        constraints: several(random, () => ({
          ...maybe(random, 0.5, () => ({ requests: references() })),
          ...maybe(random, 0.8, () => ({ matchAttribute: attribute() })),
          ...maybe(random, 0.1, () => ({ distinctAttribute: attribute() })),
        })),
      })),
      ...maybe(random, 0.3, () => ({
        config: several(random, () => ({
          ...maybe(random, 0.5, () => ({ requests: references() })),
          ...opaque(random),
        })),
      })),
    },
  }
}

function nodeSelector(random: Random): Json {
  return {
    nodeSelectorTerms: several(random, () =>
      mostly<Json>(random, [
        { matchExpressions: [{ key: 'k', operator: random.pick(['In', 'Exists', 'x']), values: ['v'] }] },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] },
        { matchFields: [{ key: 'x', operator: 'In', values: ['n', 'm'] }] },
        {},
      ]),
    ),
  }
}

function consumer(random: Random): Json {
  return {
    resource: mostly<string>(random, ['pods', '', 'x']),
    name: mostly<string>(random, ['p', '', 'X!']),
    uid: random.pick(['1', '2', '3', '']),
    ...maybe(random, 0.2, () => ({ apiGroup: random.pick(['', 'x!', 'apps']) })),
  }
}

function deviceId(random: Random): Json {
  return { driver: driverName(random), pool: poolName(random), device: deviceName(random) }
}

function allocation(random: Random): Json {
  return {
    ...maybe(random, 0.95, () => ({
      devices: {
        results: several(random, () => ({
          request: requestName(random),
          ...deviceId(random),
          ...maybe(random, 0.1, () => ({ adminAccess: chance(random, 0.7) })),
          ...maybe(random, 0.1, () => ({ shareID: random.pick(['x', 'a2b3c4d5-0000-4000-8000-000000000000']) })),
          ...maybe(random, 0.1, () => ({ consumedCapacity: { memory: '1Gi' } })),
          ...maybe(random, 0.1, () => ({ bindingConditions: ['a'], bindingFailureConditions: ['b'] })),
          ...maybe(random, 0.1, () => ({ tolerations: several(random, () => toleration(random)) })),
        })),
        ...maybe(random, 0.3, () => ({
          config: several(random, () => ({
            source: mostly<string>(random, ['FromClaim', 'FromClass', '', 'x']),
            ...maybe(random, 0.5, () => ({ requests: several(random, () => requestName(random)) })),
            ...opaque(random),
          })),
        })),
      },
    })),
    ...maybe(random, 0.3, () => ({ nodeSelector: nodeSelector(random) })),
    ...maybe(random, 0.1, () => ({ allocationTimestamp: '2020-01-01T00:00:00Z' })),
  }
}

function condition(random: Random): Json {
  return {
    type: mostly<string>(random, ['Ready', '', 'x!', 'a.io/Ready']),
    status: mostly<string>(random, ['True', 'x', '']),
    reason: mostly<string>(random, ['R', '', 'r x', '5']),
    message: mostly<string>(random, ['m', '', 'm'.repeat(40_000)]),
    ...maybe(random, 0.9, () => ({ lastTransitionTime: '2020-01-01T00:00:00Z' })),
    ...maybe(random, 0.1, () => ({ observedGeneration: random.pick([1, -1]) })),
  }
}

function deviceStatus(random: Random): Json {
  const address = (): string =>
    random.pick(['10.0.0.1/24', '10.0.0.0/24', '10.0.0.1', 'x', '010.0.0.1/24', '2001:db8::1/64', '2001:DB8::1/64', ''])
  return {
    ...deviceId(random),
    ...maybe(random, 0.4, () => ({ conditions: several(random, () => condition(random)) })),
    ...maybe(random, 0.3, () => ({ data: parameters(random) })),
    ...maybe(random, 0.3, () => ({
      networkData: {
        ...maybe(random, 0.7, () => ({ interfaceName: mostly<string>(random, ['eth0', '', 'x'.repeat(257)]) })),
        ...maybe(random, 0.7, () => ({ ips: several(random, address) })),
        ...maybe(random, 0.5, () => ({ hardwareAddress: mostly<string>(random, ['00:11', 'x'.repeat(129)]) })),
      },
    })),
    ...maybe(random, 0.1, () => ({ shareID: random.pick(['x', 'a2b3c4d5-0000-4000-8000-000000000000']) })),
  }
}

function claimStatus(random: Random): Json {
  return {
    ...maybe(random, 0.7, () => ({ allocation: chance(random, 0.05) ? null : allocation(random) })),
    ...maybe(random, 0.5, () => ({ reservedFor: several(random, () => consumer(random)) })),
    ...maybe(random, 0.5, () => ({ devices: several(random, () => deviceStatus(random)) })),
  }
}

function sliceSpec(random: Random): Json {
  const quantity = (): string => random.pick(['1Gi', '0', '-1', '1.5'])
  const attribute = (): Json =>
    random.pick<Json>([
      { int: 1 },
      { bool: true },
      { string: mostly<string>(random, ['x', '', longText, 'x'.repeat(65)]) },
      { version: random.pick(['1.0.0', '1.0', 'v1.0.0', '1.0.0-a.b+c', '01.0.0', `1.0.0-${longText}`]) },
      {},
      { int: 1, bool: false },
      { string: '', version: '' },
    ])
  const key = (): string =>
    random.pick([
      'x',
      'a.example/x',
      'x!',
      '/x',
      'a.example/',
      'A.example/x',
      'a'.repeat(33),
      `${longText}/x`,
      '',
      'a/b/c',
    ])
  return {
    driver: driverName(random),
    pool: {
      name: poolName(random),
      resourceSliceCount: mostly<number>(random, [1, 0, -1]),
      ...maybe(random, 0.5, () => ({ generation: mostly<number>(random, [1, 0, -1]) })),
    },
    ...mostly<Json>(random, [
      { nodeName: 'n' },
      { allNodes: true },
      { allNodes: false },
      { nodeName: '' },
      { nodeName: 'N!' },
      { nodeSelector: nodeSelector(random) },
      { perDeviceNodeSelection: true },
      { nodeName: 'n', allNodes: true },
      {},
    ]),
    ...maybe(random, 0.9, () => ({
      devices: several(random, (i) => ({
        name: i === 0 ? deviceName(random) : `d${i}`,
        ...maybe(random, 0.5, () => ({ attributes: maybe(random, 0.8, () => ({ [key()]: attribute() })) })),
        ...maybe(random, 0.3, () => ({
          capacity: {
            [key()]: { value: quantity(), ...maybe(random, 0.1, () => ({ requestPolicy: { default: '1' } })) },
          },
        })),
        ...maybe(random, 0.1, () => ({ taints: [{ key: 'k', effect: random.pick(['NoSchedule', 'x', 'None']) }] })),
        ...maybe(random, 0.1, () => ({ nodeName: 'n' })),
        ...maybe(random, 0.1, () => ({ allNodes: true })),
        ...maybe(random, 0.1, () => ({ allowMultipleAllocations: true })),
        ...maybe(random, 0.1, () => ({ bindsToNode: true, bindingConditions: ['a'] })),
        ...maybe(random, 0.1, () => ({ consumesCounters: [{ counterSet: 'c', counters: { m: { value: '1' } } }] })),
      })),
    })),
    ...maybe(random, 0.1, () => ({ sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }] })),
  }
}

function classSpec(random: Random): Json {
  return {
    ...maybe(random, 0.7, () => ({ selectors: several(random, () => selector(random)) })),
    ...maybe(random, 0.5, () => ({ config: several(random, () => opaque(random)) })),
    ...maybe(random, 0.2, () => ({ extendedResourceName: random.pick(['a.example/x', 'x', 'cpu']) })),
  }
}

/** A claim, template, slice or class that is created, updated, and, as a claim, allocated, reserved and released. */
export function deviceScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const [resource, make] = random.pick<[string, () => Json]>([
    ['resourceclaims', () => claimSpec(random)],
    ['resourceclaims', () => claimSpec(random)],
    ['resourceclaims', () => claimSpec(random)],
    [
      'resourceclaimtemplates',
      () => ({ ...maybe(random, 0.3, () => ({ metadata: { labels: { a: 'b' } } })), spec: claimSpec(random) }),
    ],
    ['resourceslices', () => sliceSpec(random)],
    ['deviceclasses', () => classSpec(random)],
  ])
  const namespaced = resource.startsWith('resourceclaim')
  const name = namespaced ? 'o' : `o-${id}`
  const collection = `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${resource}`
  const path = `${collection}/${name}`
  const isClaim = resource === 'resourceclaims'
  const body = (): Json => {
    const spec = make()
    return { metadata: { name }, spec: chance(random, 0.1) ? mutateValue(random, spec) : spec }
  }
  const plain = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } }
  const requests: RequestSpec[] = [
    {
      method: 'POST',
      path: collection,
      body: isClaim && chance(random, 0.6) ? { metadata: { name }, spec: plain } : body(),
    },
  ]
  for (let left = 4 + random.int(4); left > 0; left--) {
    const query = chance(random, 0.1) ? { dryRun: 'All' } : {}
    const drawn = random.int(10)
    if (isClaim && drawn < 6) {
      const status = claimStatus(random)
      requests.push({
        method: 'PATCH',
        path: `${path}/status`,
        query,
        headers: merge,
        body: { status: chance(random, 0.1) ? mutateValue(random, status) : status },
      })
    } else if (drawn < 8) {
      const { spec } = body()
      requests.push({ method: 'PATCH', path, query, headers: merge, body: { spec } })
    } else if (drawn === 8) requests.push({ method: 'POST', path: collection, query: { dryRun: 'All' }, body: body() })
    else requests.push(random.pick<RequestSpec>([{ path }, { method: 'DELETE', path, query }]))
  }
  return { kind: 'devices', namespace, requests, created: namespaced ? [] : [path] }
}
