import { parseSelector } from '@kubewright/api'
import type { Node, Pod, PodSpec } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { node, type PodFacts, pod } from '../testdata/objects.ts'
import { ClusterLedger, placedPod } from './cluster-ledger.ts'
import { type SchedulingFacts, schedulePod } from './schedule-pod.ts'

const loads = (nodes: readonly Node[], ...pods: Pod[]) => {
  const ledger = new ClusterLedger()
  for (const one of pods) ledger.see(one)
  return ledger.loads(nodes)
}
const where = (subject: Pod, nodes: readonly Node[], ...pods: Pod[]): string => {
  const placement = schedulePod(subject, loads(nodes, ...pods))
  return 'reason' in placement ? placement.reason : placement.node.node.metadata.name
}
const asking = (requests: Record<string, string>, facts: PodFacts = {}): Pod =>
  pod({ ...facts, spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })
const after = (open: string) => `no new claims to deallocate, preemption: 0/${open}.`

test('schedulePod() spreads the pods of an owner, then prefers the emptiest node', () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'w' }
  const nodes = [node('a'), node('b')]
  expect(where(pod({ name: 'n', owner }), nodes, pod({ name: 'x', node: 'a', owner }))).toBe('b')
  expect(where(asking({ cpu: '1' }), nodes, asking({ cpu: '2' }, { name: 'x', node: 'a' }))).toBe('b')
})

test('schedulePod() counts the resources of unfinished pods', () => {
  const nodes = [node('a')]
  const big = asking({ cpu: '3' }, { name: 'big', node: 'a' })
  expect(where(asking({ cpu: '2' }), nodes, big)).toBe(
    `0/1 nodes are available: 1 Insufficient cpu. ${after('1 nodes are available: 1 No preemption victims found for incoming pod')}`,
  )
  expect(where(asking({ cpu: '2' }), nodes, asking({ cpu: '3' }, { name: 'big', node: 'a', phase: 'Succeeded' }))).toBe(
    'a',
  )
  expect(where(asking({ cpu: '5', 'example.com/gpu': '1' }), nodes)).toBe(
    '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/gpu. ' +
      after('1 nodes are available: 1 Preemption is not helpful for scheduling'),
  )
  const full = node('a', { status: { allocatable: { cpu: '4', pods: '1' } } })
  expect(where(pod(), [full], pod({ name: 'x', node: 'a' }))).toContain('1 Too many pods.')
})

test('schedulePod() reports the reasons for all rejected nodes', () => {
  const nodes = [
    node('cordoned', { spec: { unschedulable: true } }),
    node('tainted', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } }),
    node('other', { labels: { disk: 'hdd' } }),
  ]
  expect(where(pod({ spec: { nodeSelector: { disk: 'ssd' } } }), nodes)).toBe(
    "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), " +
      `1 node(s) were unschedulable. ${after('3 nodes are available: 3 Preemption is not helpful for scheduling')}`,
  )
  expect(where(pod(), [])).toBe('no nodes available to schedule pods')
  const tolerations = [{ key: 'k', value: 'v', effect: 'NoSchedule' as const }]
  expect(where(pod({ spec: { tolerations } }), nodes.slice(1, 2))).toBe('tainted')
})

test.each<[string, { operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'; values?: string[] }, boolean]>(
  [
    ['In', { operator: 'In', values: ['4', '8'] }, true],
    ['NotIn', { operator: 'NotIn', values: ['4', '8'] }, false],
    ['Exists', { operator: 'Exists' }, true],
    ['DoesNotExist', { operator: 'DoesNotExist' }, false],
    ['Gt', { operator: 'Gt', values: ['3'] }, true],
    ['Lt', { operator: 'Lt', values: ['3'] }, false],
  ],
)('schedulePod() knows node affinity with %s', (_, requirement, fits) => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'cores', ...requirement }] }] }
  const spec: Partial<PodSpec> = {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  }
  expect(where(pod({ spec }), [node('a', { labels: { cores: '4' } })]) === 'a').toBe(fits)
})

test('schedulePod() avoids host port conflicts', () => {
  const spec = { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, hostPort: 80 }] }] }
  const taken = pod({ name: 'x', node: 'a', spec })
  expect(where(pod({ spec }), [node('a'), node('b')], taken)).toBe('b')
  expect(where(pod({ spec }), [node('a')], taken)).toContain(
    "1 node(s) didn't have free ports for the requested pod ports.",
  )
})

test.each<[string, object, object, boolean]>([
  ['on different addresses', { hostIP: '127.0.0.1' }, { hostIP: '10.0.0.1' }, true],
  ['of different protocols', { hostIP: '10.0.0.1' }, { hostIP: '10.0.0.1', protocol: 'UDP' }, true],
  ['on one and on every address', { hostIP: '10.0.0.1' }, {}, false],
  ['on every address, written in two ways', { hostIP: '0.0.0.0' }, {}, false],
])('schedulePod() compares equal host ports %s', (_, first, second, fits) => {
  const using = (port: object, facts: PodFacts): Pod =>
    pod({
      ...facts,
      spec: { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, hostPort: 80, ...port }] }] },
    })
  const taken = using(first, { name: 'x', node: 'a' })
  expect(where(using(second, { name: 'new' }), [node('a')], taken) === 'a').toBe(fits)
})

test('schedulePod() counts the host ports of sidecars', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }]
  const sidecar = { name: 's', image: 'x', restartPolicy: 'Always', ports }
  const taken = pod({
    name: 'x',
    node: 'a',
    spec: { containers: [{ name: 'c', image: 'x' }], initContainers: [sidecar] },
  })
  const spec = { containers: [{ name: 'c', image: 'x', ports }] }
  expect(where(pod({ spec }), [node('a'), node('b')], taken)).toBe('b')
})

const near = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone' }
const zoned = [node('a', { labels: { zone: '1' } }), node('b', { labels: { zone: '2' } })]
const web = (facts: PodFacts): Pod => pod({ labels: { app: 'web' }, ...facts })

test('schedulePod() respects pod affinity and anti-affinity', () => {
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  const antiAffinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  const there = web({ name: 'x', node: 'b' })
  expect(where(pod({ spec: { affinity } }), zoned, there)).toBe('b')
  expect(where(pod({ spec: { affinity } }), zoned)).toContain("2 node(s) didn't match pod affinity rules.")
  expect(where(web({ spec: { affinity } }), zoned)).toBe('a')
  expect(where(web({ spec: { affinity: antiAffinity } }), zoned, there)).toBe('a')
  const repelling = web({ name: 'y', node: 'a', spec: { affinity: antiAffinity } })
  expect(where(web({}), [zoned[0]!], repelling)).toContain(
    "1 node(s) didn't satisfy existing pods anti-affinity rules.",
  )
})

test('ClusterLedger counts each pod once and releases the resources of deleted pods', () => {
  const ledger = new ClusterLedger()
  const subject = asking({ cpu: '1' }, { name: 'p' })
  const used = () => ledger.loads([node('a')])[0]?.used.get('cpu') ?? 0n
  ledger.assume(subject, 'a')
  ledger.see(subject)
  expect(ledger.isAssumed('uid-p')).toBe(true)
  ledger.see({ ...subject, spec: { ...subject.spec, nodeName: 'a' } })
  expect([used(), ledger.isAssumed('uid-p')]).toEqual([1000n, false])
  ledger.forget('uid-p')
  ledger.forget('uid-p')
  expect(used()).toBe(0n)
})

const inZone = (name: string, zone: string): Node => node(name, { labels: { zone, 'kubernetes.io/hostname': name } })
const labelled = (name: string, on?: string): Pod =>
  pod({ name, labels: { app: 'a' }, ...(on === undefined ? {} : { node: on }) })
const spread = (whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway', more: object = {}) => ({
  maxSkew: 1,
  topologyKey: 'zone',
  whenUnsatisfiable,
  labelSelector: { matchLabels: { app: 'a' } },
  ...more,
})
const spreading = (...topologySpreadConstraints: ReturnType<typeof spread>[]): Pod =>
  pod({ labels: { app: 'a' }, spec: { topologySpreadConstraints } })

test('schedulePod() keeps the skew of topology spread constraints', () => {
  const nodes = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b'), node('nowhere')]
  const pods = [labelled('x', 'a1'), labelled('y', 'a2'), labelled('z', 'b1')]
  expect(where(spreading(spread('DoNotSchedule')), nodes, ...pods)).toBe('b1')
  const full = [
    inZone('a1', 'a'),
    node('nowhere'),
    node('b1', { labels: { zone: 'b' }, spec: { unschedulable: true } }),
  ]
  const text = "node(s) didn't match pod topology spread constraints"
  expect(where(spreading(spread('DoNotSchedule')), full, labelled('x', 'a1'))).toBe(
    `0/3 nodes are available: 1 ${text}, 1 ${text} (missing required label), 1 node(s) were unschedulable. ` +
      after(
        '3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling',
      ),
  )
  expect(where(spreading(spread('ScheduleAnyway')), nodes, ...pods)).toBe('b1')
})

test('schedulePod() honours minDomains, matchLabelKeys and pods that are being deleted in topology spread constraints', () => {
  const nodes = [inZone('a1', 'a')]
  expect(where(spreading(spread('DoNotSchedule')), nodes, labelled('x', 'a1'))).toBe('a1')
  expect(where(spreading(spread('DoNotSchedule', { minDomains: 2 })), nodes, labelled('x', 'a1'))).toContain(
    '0/1 nodes',
  )
  const leaving = pod({ name: 'x', labels: { app: 'a' }, node: 'a1', deleted: true })
  expect(where(spreading(spread('DoNotSchedule', { minDomains: 2 })), nodes, leaving)).toBe('a1')
  const other = pod({ name: 'x', labels: { app: 'a', version: '1' }, node: 'a1' })
  const subject = pod({
    labels: { app: 'a', version: '2' },
    spec: { topologySpreadConstraints: [spread('DoNotSchedule', { minDomains: 2, matchLabelKeys: ['version'] })] },
  })
  expect(where(subject, nodes, other)).toBe('a1')
})

test('schedulePod() follows preferences for nodes, pods and taints', () => {
  const nodes = [inZone('a1', 'a'), inZone('b1', 'b')]
  const preference = { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }] }
  const liked = [{ weight: 10, preference }]
  const byNode = pod({
    spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: liked } } },
  })
  expect(where(byNode, nodes)).toBe('b1')
  const podAffinityTerm = { labelSelector: { matchLabels: { app: 'a' } }, topologyKey: 'zone' }
  const terms = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] }
  expect(where(pod({ spec: { affinity: { podAffinity: terms } } }), nodes, labelled('x', 'b1'))).toBe('b1')
  expect(where(pod({ spec: { affinity: { podAntiAffinity: terms } } }), nodes, labelled('x', 'a1'))).toBe('b1')
  const avoided = node('a1', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } })
  expect(where(pod(), [avoided, node('b1')])).toBe('b1')
})

test('schedulePod() names the nodes that node affinity by name leaves out', () => {
  const values = ['gone']
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values }] }]
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }
  expect(where(pod({ spec: { affinity: { nodeAffinity: required } } }), [node('a'), node('b')])).toContain(
    "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. ",
  )
})

const ranked = (name: string, priority: number, cpu: string, more: PodFacts = {}, spec: Partial<PodSpec> = {}): Pod =>
  pod({
    name,
    ...more,
    spec: { priority, containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }], ...spec },
  })
const plan = (subject: Pod, nodes: readonly Node[], pods: readonly Pod[], facts: SchedulingFacts = {}) => {
  const placement = schedulePod(subject, loads(nodes, ...pods), facts)
  if (!('reason' in placement)) return placement.node.node.metadata.name
  const { preemption } = placement
  return preemption ? `${preemption.node}: ${preemption.victims.map(({ name }) => name).join(' ')}` : placement.reason
}

test('schedulePod() preempts the fewest and least important pods', () => {
  const pods = [
    ranked('low', 1, '2', { node: 'a' }),
    ranked('mid', 5, '2', { node: 'a' }),
    ranked('b', 5, '4', { node: 'b' }),
  ]
  const nodes = [node('a'), node('b')]
  expect(plan(ranked('high', 10, '2'), nodes, pods)).toBe('a: low')
  expect(plan(ranked('high', 10, '4'), nodes, pods)).toBe('b: b')
  const placement = schedulePod(ranked('high', 10, '2'), loads(nodes, ...pods))
  expect('reason' in placement && placement.reason).toBe('0/2 nodes are available: 2 Insufficient cpu.')
  expect(plan(ranked('same', 1, '2'), nodes, pods)).toContain('2 No preemption victims found for incoming pod')
  expect(plan(ranked('polite', 10, '2', {}, { preemptionPolicy: 'Never' }), nodes, pods)).toBe(
    '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
  )
})

test('schedulePod() respects disruption budgets of victims where possible', () => {
  const pods = [
    ranked('kept', 1, '4', { node: 'a', labels: { app: 'kept' } }),
    ranked('free', 5, '4', { node: 'b', labels: { app: 'free' } }),
  ]
  const budgets = [
    { namespace: 'test', selector: parseSelector('app=kept'), disruptionsAllowed: 0, disrupted: new Set<string>() },
  ]
  expect(plan(ranked('high', 10, '2'), [node('a'), node('b')], pods)).toBe('a: kept')
  expect(plan(ranked('high', 10, '2'), [node('a'), node('b')], pods, { budgets })).toBe('b: free')
  expect(plan(ranked('high', 10, '2'), [node('a')], pods, { budgets })).toBe('a: kept')
})

test('schedulePod() leaves room that was made for a more important pod, and waits for terminating victims', () => {
  const high = ranked('high', 10, '3')
  const nominated = new Map([['a', [placedPod(high)]]])
  expect(plan(ranked('low', 1, '2'), [node('a')], [], { nominated })).toContain('1 Insufficient cpu')
  expect(plan(ranked('higher', 20, '2'), [node('a')], [], { nominated })).toBe('a')
  const victim = ranked('victim', 1, '4', { node: 'a', deleted: true })
  const condition = { type: 'DisruptionTarget', status: 'True' as const, reason: 'PreemptionByScheduler' }
  const going = { ...victim, status: { ...victim.status, conditions: [condition] } } as Pod
  expect(plan(high, [node('a')], [going], { nominatedNode: 'a' })).toBe(
    '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.',
  )
})

test('schedulePod() reports obstacles of volumes and places pods where their volumes are', () => {
  const obstacle = 'pod has unbound immediate PersistentVolumeClaims'
  expect(plan(pod(), [node('a')], [], { obstacle })).toBe(
    `0/1 nodes are available: ${obstacle}. ${after('1 nodes are available: 1 Preemption is not helpful for scheduling')}`,
  )
  const nodes = [inZone('a1', 'a'), inZone('b1', 'b')]
  const volumeNodes = [
    { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['b'] }] }] },
  ]
  expect(plan(pod(), nodes, [], { volumeNodes })).toBe('b1')
  expect(plan(pod(), nodes.slice(0, 1), [], { volumeNodes })).toContain(
    "1 node(s) didn't match PersistentVolume's node affinity.",
  )
})
