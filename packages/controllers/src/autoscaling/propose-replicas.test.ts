import { Quantity } from '@kubewright/api'
import type { HorizontalPodAutoscaler, Pod } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { type GivenMetric, givenMetrics, metricsAnnotation } from './given-metrics.ts'
import { proposeReplicas } from './propose-replicas.ts'

// Contains only the fields that the metrics read.
const pod = (name: string, ready = true, cpu: string | null = '1'): Pod =>
  ({
    metadata: { name },
    spec: { containers: [{ name: 'c', resources: cpu === null ? {} : { requests: { cpu } } }] },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as unknown as Pod
const facts = (given: Record<string, GivenMetric>, pods: readonly Pod[] = [pod('a'), pod('b')]) => ({
  given: new Map(Object.entries(given)),
  pods,
  specReplicas: pods.length,
  statusReplicas: pods.length,
  namespace: 'n',
})
const total = (text: string): GivenMetric => ({ total: Quantity.parse(text) })
const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } }) as never
const utilization = cpu({ type: 'Utilization', averageUtilization: 50 })

describe('proposeReplicas()', () => {
  test.each([
    ['utilization given as such', { cpu: { percent: 90 } }, 4],
    ['utilization of what is requested', { cpu: total('1800m') }, 4],
    ['utilization within the tolerance', { cpu: { percent: 54 } }, 2],
    ['utilization below', { cpu: { percent: 10 } }, 1],
  ])('%s', (_, given, replicas) => {
    expect(proposeReplicas(utilization, facts(given))).toMatchObject({
      replicas,
      metric: 'cpu resource utilization (percentage of request)',
    })
  })

  test('reports utilization and usage in the status', () => {
    expect(proposeReplicas(utilization, facts({ cpu: total('1500m') })).status).toEqual({
      type: 'Resource',
      resource: { name: 'cpu', current: { averageUtilization: 75, averageValue: '750m' } },
    })
  })

  test('averages resource and pod metrics over all pods', () => {
    const usage = cpu({ type: 'AverageValue', averageValue: '500m' })
    expect(proposeReplicas(usage, facts({ cpu: total('2') })).replicas).toBe(4)
    const target = { type: 'AverageValue', averageValue: '100' }
    const pods = { type: 'Pods', pods: { metric: { name: 'rps' }, target } } as never
    const proposal = proposeReplicas(pods, facts({ rps: total('450') }))
    expect(proposal).toMatchObject({ replicas: 5, metric: 'pods metric rps' })
    expect(proposal.status.pods?.current).toEqual({ averageValue: '225' })
  })

  test('divides an external metric by the replicas for AverageValue, and compares it directly for Value', () => {
    const external = (target: object) =>
      ({ type: 'External', external: { metric: { name: 'queue' }, target } }) as never
    const shared = external({ type: 'AverageValue', averageValue: '10' })
    expect(proposeReplicas(shared, facts({ queue: total('75') }))).toMatchObject({
      replicas: 8,
      status: { external: { current: { averageValue: '37500m' } } },
    })
    const whole = external({ type: 'Value', value: '30' })
    expect(proposeReplicas(whole, facts({ queue: total('75') })).replicas).toBe(5)
  })

  test('ignores unready pods, which never reverse the scaling direction', () => {
    const some = [pod('a'), pod('b', false), pod('c', false)]
    expect(proposeReplicas(utilization, facts({ cpu: { percent: 100 } }, some)).replicas).toBe(3)
  })

  test.each([
    ['no metric', {}, undefined, 'FailedGetResourceMetric', /unable to fetch metrics from resource metrics API/],
    ['no ready pods', { cpu: { percent: 1 } }, [pod('a', false)], 'FailedGetResourceMetric', /did not receive metrics/],
    [
      'no requests',
      { cpu: total('1') },
      [pod('a', true, null)],
      'FailedGetResourceMetric',
      /missing request for cpu in container c of Pod a/,
    ],
  ])('%s is an error', (_, given, pods, reason, message) => {
    expect(() => proposeReplicas(utilization, facts(given as Record<string, GivenMetric>, pods))).toThrow(
      expect.objectContaining({ reason, message: expect.stringMatching(message) as string }),
    )
  })

  test('reports an unserved metric with the messages of kube-controller-manager v1.35.8', () => {
    const target = { type: 'AverageValue', averageValue: '3' } as const
    const external = { metric: { name: 'q', selector: { matchLabels: { a: 'b' } } }, target }
    const message =
      'unable to get external metric ns/q/&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get q.external.metrics.k8s.io)'
    const full = `failed to get q external metric value: failed to get q external metric: ${message}`
    expect(() => proposeReplicas({ type: 'External', external } as never, { ...facts({}), namespace: 'ns' })).toThrow(
      expect.objectContaining({ reason: 'FailedGetExternalMetric', message, full }),
    )
  })
})

describe('givenMetrics()', () => {
  const of = (text?: string) =>
    givenMetrics({
      metadata: { annotations: text === undefined ? {} : { [metricsAnnotation]: text } },
    } as unknown as HorizontalPodAutoscaler)

  test('parses percentages, quantities and numbers', () => {
    expect([...of('{"cpu":"80%","memory":"1Gi","rps":120}')]).toEqual([
      ['cpu', { percent: 80 }],
      ['memory', total('1Gi')],
      ['rps', total('120')],
    ])
    expect(of().size).toBe(0)
  })

  test.each(['no JSON', '[]', '{"cpu":"many"}', '{"cpu":true}'])('rejects %s', (text) => {
    expect(() => of(text)).toThrow(/kubewright.dev\/metrics: .*use a JSON object/)
  })
})
