import { Quantity } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { HorizontalPodAutoscaler, Pod } from '@kubewright/k8s'
import { isPodReady } from '../workload/pod-state.ts'
import type { GivenMetric } from './given-metrics.ts'

type MetricSpec = NonNullable<HorizontalPodAutoscaler['spec']['metrics']>[number]
type MetricStatus = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number]

type LabelSelector = NonNullable<NonNullable<MetricSpec['external']>['metric']['selector']>

/** Relative deviations from the target up to 10 % cause no scaling. */
const tolerance = 0.1

/** Input of {@link proposeReplicas}. */
export interface ProposalFacts {
  readonly given: ReadonlyMap<string, GivenMetric>
  /** The pods that the scale target selects. */
  readonly pods: readonly Pod[]
  readonly specReplicas: number
  readonly statusReplicas: number
  readonly namespace: string
}

/** The replica count that one metric proposes. */
export interface Proposal {
  readonly replicas: number
  /** The metric's name in messages. */
  readonly metric: string
  readonly status: MetricStatus
}

/** A metric without a usable value, with the reason for the condition ScalingActive. */
export class MetricError extends CaughtError {
  override readonly name = 'MetricError'
  readonly reason: string
  /** The message with its prefix, as used when all metrics are summarized in one message. */
  readonly full: string

  constructor(reason: string, message: string, sought?: string) {
    super(message)
    this.reason = reason
    this.full = sought === undefined ? message : `failed to get ${sought}: ${message}`
  }
}

/**
 * Computes the replica count that a metric proposes. Throws a {@link MetricError} when the metric has no usable value.
 */
export function proposeReplicas(spec: MetricSpec, facts: ProposalFacts): Proposal {
  switch (spec.type) {
    case 'Resource':
    case 'ContainerResource':
      return proposeForResource(spec, facts)
    case 'Pods':
      return proposeForPods(spec, facts)
    case 'Object':
    case 'External':
      return proposeForTotal(spec, facts)
    default:
      throw new MetricError('InvalidMetricSourceType', `unknown metric source type ${JSON.stringify(spec.type)}`)
  }
}

function proposeForResource(spec: MetricSpec, facts: ProposalFacts): Proposal {
  const ofContainer = spec.containerResource
  const source = ofContainer ?? spec.resource
  if (source === undefined) throw new MetricError('FailedGetResourceMetric', 'invalid resource metric source')
  const { name, target } = source
  const reason = ofContainer === undefined ? 'FailedGetResourceMetric' : 'FailedGetContainerResourceMetric'
  const what = target.averageValue === undefined ? 'utilization' : 'usage'
  const sought =
    ofContainer === undefined ? `${name} resource metric value` : `${ofContainer.container} container metric value`
  const fail = (why: string): MetricError => new MetricError(reason, `failed to get ${name} ${what}: ${why}`, sought)
  const given = facts.given.get(name)
  if (given === undefined) {
    throw fail(
      `unable to get metrics for resource ${name}: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)`,
    )
  }
  const ready = facts.pods.filter((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined)
  if (ready.length === 0) throw fail('did not receive metrics for targeted pods (pods might be unready)')
  const requested = (): number =>
    ready.reduce((sum, pod) => sum + requestOf(pod, name, ofContainer?.container, fail), 0)
  const used = 'total' in given ? Number(given.total.milliValue()) : (given.percent / 100) * requested()
  const averageValue = quantityText(name, used / ready.length)
  const current =
    target.averageValue === undefined
      ? {
          averageUtilization: Math.trunc('percent' in given ? given.percent : (used * 100) / requested()),
          averageValue,
        }
      : { averageValue }
  const ratio =
    target.averageValue === undefined
      ? (current.averageUtilization ?? 0) / (target.averageUtilization ?? 100)
      : used / ready.length / milliOf(target.averageValue)
  const replicas = scaled(ratio, ready.length, facts.specReplicas)
  if (ofContainer !== undefined) {
    const status = { type: 'ContainerResource', containerResource: { name, container: ofContainer.container, current } }
    const metric =
      target.averageValue === undefined
        ? `${name} container resource utilization (percentage of request)`
        : `${name} resource`
    return { replicas, metric, status }
  }
  const metric =
    target.averageValue === undefined ? `${name} resource utilization (percentage of request)` : `${name} resource`
  return { replicas, metric, status: { type: 'Resource', resource: { name, current } } }
}

function proposeForPods({ pods: source }: MetricSpec, facts: ProposalFacts): Proposal {
  const name = source?.metric.name ?? ''
  const fail = (why: string): MetricError => new MetricError('FailedGetPodsMetric', why, 'pods metric value')
  const given = facts.given.get(name)
  if (given === undefined || !('total' in given)) {
    throw fail(
      `unable to get metric ${name}: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered`,
    )
  }
  const ready = facts.pods.filter((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined)
  if (ready.length === 0) throw fail('did not receive metrics for targeted pods (pods might be unready)')
  const average = Number(given.total.milliValue()) / ready.length
  const ratio = average / milliOf(source?.target.averageValue)
  return {
    replicas: scaled(ratio, ready.length, facts.specReplicas),
    metric: `pods metric ${name}`,
    status: { type: 'Pods', pods: { metric: source!.metric, current: { averageValue: milliText(average) } } },
  }
}

/** Object and external metrics: one value for the whole target. */
function proposeForTotal({ object, external }: MetricSpec, facts: ProposalFacts): Proposal {
  const { metric, target } = (object ?? external)!
  const given = facts.given.get(metric.name)
  if (given === undefined || !('total' in given)) throw missingTotal(object, metric, target, facts)
  const total = Number(given.total.milliValue())
  const perPod = target.averageValue !== undefined
  let replicas: number
  if (perPod) {
    const wanted = milliOf(target.averageValue)
    const ratio = total / (wanted * Math.max(1, facts.statusReplicas))
    replicas = Math.abs(1 - ratio) <= tolerance ? facts.statusReplicas : Math.ceil(total / wanted)
  } else {
    const ready = facts.pods.filter(isPodReady).length
    const ratio = total / milliOf(target.value)
    replicas = facts.specReplicas === 0 ? Math.ceil(ratio) : scaled(ratio, ready, facts.specReplicas)
  }
  const current = perPod
    ? { averageValue: milliText(Math.ceil(total / Math.max(1, facts.statusReplicas))) }
    : { value: milliText(total) }
  if (object !== undefined) {
    const { describedObject } = object
    const status = { type: 'Object', object: { metric, current, describedObject } }
    return { replicas, metric: `${describedObject.kind} metric ${metric.name}`, status }
  }
  const selector = metric.selector === undefined ? 'nil' : JSON.stringify(metric.selector)
  const name = `external metric ${metric.name}(${selector})`
  return { replicas, metric: name, status: { type: 'External', external: { metric, current } } }
}

/** Formats a label selector as Go does. */
function printSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const requirements = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const texts = labels.map(([key, value]) => `${key}: ${value},`)
  return `&LabelSelector{MatchLabels:map[string]string{${texts.join('')}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}

function missingTotal(
  object: MetricSpec['object'],
  metric: { readonly name: string; readonly selector?: LabelSelector | undefined },
  target: { readonly averageValue?: unknown },
  { namespace }: ProposalFacts,
): MetricError {
  const { name } = metric
  if (object !== undefined) {
    const { kind, name: of } = object.describedObject
    const why =
      'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'
    const message = `unable to get metric ${name}: ${kind} on ${namespace} ${of}/${why}`
    const each = target.averageValue === undefined ? '' : `: failed to get ${name} object metric`
    return new MetricError('FailedGetObjectMetric', message, `object metric value${each}`)
  }
  const what = target.averageValue === undefined ? `external metric ${name}` : `${name} external metric`
  const why = `unable to fetch metrics from external metrics API: the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`
  const message = `unable to get external metric ${namespace}/${name}/${printSelector(metric.selector)}: ${why}`
  return new MetricError('FailedGetExternalMetric', message, `${name} external metric value: failed to get ${what}`)
}

function scaled(ratio: number, ready: number, current: number): number {
  if (Math.abs(1 - ratio) <= tolerance) return current
  // Tolerates floating point errors: 1.0000000000000002 pods must round to 1.
  const replicas = Math.ceil(ratio * ready - 1e-9)
  // Unready pods must not turn a scale-up into a scale-down, or the reverse.
  return (ratio > 1 && replicas < current) || (ratio < 1 && replicas > current) ? current : replicas
}

function requestOf(pod: Pod, resource: string, only: string | undefined, fail: (why: string) => Error): number {
  let sum = 0
  for (const { name, resources } of pod.spec.containers) {
    if (only !== undefined && name !== only) continue
    const request = resources?.requests?.[resource]
    if (request === undefined)
      throw fail(`missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`)
    sum += milliOf(request)
  }
  return sum
}

const milliOf = (value: unknown): number => Number(Quantity.parse(String(value ?? '0')).milliValue())
const milliText = (millis: number): string => Quantity.ofMilli(Math.round(millis)).toString()
const quantityText = (name: string, millis: number): string =>
  name === 'memory' ? Quantity.of(Math.round(millis / 1000), 'BinarySI').toString() : milliText(millis)
