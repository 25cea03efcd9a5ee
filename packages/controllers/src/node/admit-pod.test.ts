import type { Node, Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { node, type PodFacts, pod } from '../testdata/objects.ts'
import { type Rejection, rejectedStatus, rejectionOf } from './admit-pod.ts'
import { ClusterLedger } from './cluster-ledger.ts'

const asking = (requests: Record<string, string>, facts: PodFacts = {}): Pod =>
  pod({ node: 'a', ...facts, spec: { containers: [{ name: 'c', image: 'x', resources: { requests } }] } })

function rejection(subject: Pod, target: Node = node('a'), ...others: Pod[]): Rejection | undefined {
  const ledger = new ClusterLedger()
  for (const one of [subject, ...others]) ledger.see(one)
  const [load] = ledger.loads([target])
  return load && rejectionOf(subject, load)
}

test('rejectionOf() accepts a pod that fits', () => {
  expect(rejection(asking({ cpu: '1' }))).toBeUndefined()
  expect(rejection(asking({ cpu: '4' }))).toBeUndefined()
})

test('rejectionOf() rejects a pod for which the node has too few resources', () => {
  expect(rejection(asking({ cpu: '2' }), node('a'), asking({ cpu: '3' }, { name: 'other' }))).toEqual({
    reason: 'OutOfcpu',
    message: "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  })
  const full = node('a', { status: { allocatable: { cpu: '4', pods: '1' } } })
  expect(rejection(pod({ node: 'a' }), full, pod({ name: 'other', node: 'a' }))).toEqual({
    reason: 'OutOfpods',
    message: "Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1",
  })
})

test('rejectionOf() ignores extended resources that the node does not have', () => {
  expect(rejection(asking({ 'example.com/gpu': '1' }))).toBeUndefined()
  const equipped = node('a', { status: { allocatable: { cpu: '4', pods: '10', 'example.com/gpu': '1' } } })
  expect(rejection(asking({ 'example.com/gpu': '2' }), equipped)?.reason).toBe('OutOfexample.com/gpu')
})

test('rejectionOf() rejects pods of another operating system', () => {
  expect(rejection(pod({ node: 'a', spec: { os: { name: 'windows' } } }))).toEqual({
    reason: 'PodOSNotSupported',
    message: "Failed to admit pod as the OS field doesn't match node OS",
  })
  expect(rejection(pod({ node: 'a', spec: { os: { name: 'linux' } } }))).toBeUndefined()
  expect(rejection(pod({ node: 'a', labels: { 'kubernetes.io/os': 'windows' } }))?.reason).toBe(
    'PodOSSelectorNodeLabelDoesNotMatch',
  )
})

test('rejectionOf() checks node selectors, host ports and taints', () => {
  expect(rejection(pod({ node: 'a', spec: { nodeSelector: { disk: 'ssd' } } }))).toEqual({
    reason: 'NodeAffinity',
    message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  })
  const spec = { containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, hostPort: 80 }] }] }
  expect(rejection(pod({ node: 'a', spec }))).toBeUndefined()
  expect(rejection(pod({ node: 'a', spec }), node('a'), pod({ name: 'other', node: 'a', spec }))?.message).toBe(
    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  )
  const tainted = node('a', { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
  expect(rejection(pod({ node: 'a' }), tainted)?.reason).toBe('TaintToleration')
  expect(rejection(pod({ node: 'a', spec: { tolerations: [{ operator: 'Exists' }] } }), tainted)).toBeUndefined()
})

test('rejectedStatus() fails the pod and keeps the conditions of other writers', () => {
  const conditions = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'example.com/checked', status: 'True' },
  ]
  const subject = { ...pod({ node: 'a' }), status: { phase: 'Pending', conditions, qosClass: 'BestEffort' } } as Pod
  expect(rejectedStatus(subject, { reason: 'OutOfcpu', message: 'too much' }, 0)).toMatchObject({
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: 'Pod was rejected: too much',
    conditions: [{ type: 'example.com/checked', status: 'True' }],
    startTime: '1970-01-01T00:00:00Z',
    qosClass: 'BestEffort',
  })
})
