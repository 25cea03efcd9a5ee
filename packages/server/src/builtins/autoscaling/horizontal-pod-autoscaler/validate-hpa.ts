import { parseGroupVersion } from '@kubewright/api'
import { isDNS1123Label, isPathSegmentName } from '@kubewright/base'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { addInvalid, checkPositive, unsupported } from '../../checks/field-checks.ts'
import { quantityOf } from '../../core/pod/resources/resource-list.ts'
import { checkContainerResourceName } from '../../core/pod/validation/containers/validate-resources.ts'
import type { HpaSpec, MetricSpec, MetricTarget, ScalingRules } from './hpa-types.ts'

const maxPeriodSeconds = 1800
const maxStabilizationSeconds = 3600
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const targetTypes = ['Utilization', 'Value', 'AverageValue']

/** Which rules apply. An update may keep values of the stored object that a create must not have. */
export interface HpaOptions {
  readonly minReplicasLowerBound: number
  readonly scaleTarget: ReferenceOptions
  readonly objectMetrics: ReferenceOptions
}

/** Which rules apply to the apiVersion of a reference. */
export interface ReferenceOptions {
  readonly allowEmptyGroup: boolean
  readonly allowInvalidVersion: boolean
}

/** Checks the spec of a HorizontalPodAutoscaler (pkg/apis/autoscaling/validation). */
export function validateHpaSpec(spec: HpaSpec, path: FieldPath, options: HpaOptions): FieldError[] {
  const errors: FieldError[] = []
  const { minReplicas, maxReplicas = 0 } = spec
  if (minReplicas !== undefined && minReplicas < options.minReplicasLowerBound) {
    const text = `must be greater than or equal to ${options.minReplicasLowerBound}`
    errors.push(invalid(path.child('minReplicas'), minReplicas, text))
  }
  const maxPath = path.child('maxReplicas')
  if (maxReplicas < 1) errors.push(invalid(maxPath, maxReplicas, 'must be greater than 0'))
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`'))
  }
  validateReference(spec.scaleTargetRef ?? {}, path.child('scaleTargetRef'), options.scaleTarget, errors)
  const metrics = spec.metrics ?? []
  const metricsPath = path.child('metrics')
  for (const [i, metric] of metrics.entries()) {
    validateMetric(metric, metricsPath.index(i), options.objectMetrics, errors)
  }
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const text = 'must specify at least one Object or External metric to support scaling to zero replicas'
    errors.push(forbidden(metricsPath, text))
  }
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const rules = spec.behavior?.[direction]
    if (rules) validateRules(rules, path.child('behavior', direction), errors)
  }
  return errors
}

interface Reference {
  kind?: string | undefined
  name?: string | undefined
  apiVersion?: string | undefined
}

function validateReference(ref: Reference, path: FieldPath, options: ReferenceOptions, errors: FieldError[]): void {
  for (const field of ['kind', 'name'] as const) {
    const value = ref[field]
    if (!value) errors.push(required(path.child(field)))
    else addInvalid(errors, path.child(field), value, isPathSegmentName(value, false))
  }
  const problem = apiVersionProblem(ref, options)
  if (problem !== undefined) errors.push(invalid(path.child('apiVersion'), ref.apiVersion ?? '', problem))
}

/** Returns the problem of the apiVersion of a reference; undefined if it is valid. */
export function apiVersionProblem(
  { apiVersion = '' }: Reference,
  { allowEmptyGroup, allowInvalidVersion }: ReferenceOptions,
): string | undefined {
  if (allowInvalidVersion) return undefined
  if (apiVersion.split('/').length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  const group = apiVersion === '' || apiVersion === '/' ? '' : parseGroupVersion(apiVersion).group
  return group === '' && !allowEmptyGroup ? 'apiVersion must specify API group' : undefined
}

function validateRules(rules: ScalingRules, path: FieldPath, errors: FieldError[]): void {
  const window = rules.stabilizationWindowSeconds
  const windowPath = path.child('stabilizationWindowSeconds')
  if ((window ?? 0) < 0) errors.push(invalid(windowPath, window, 'must be greater than or equal to zero'))
  if ((window ?? 0) > maxStabilizationSeconds) {
    errors.push(invalid(windowPath, window, `must be less than or equal to ${maxStabilizationSeconds}`))
  }
  const { selectPolicy, policies = [], tolerance } = rules
  const selections = ['Disabled', 'Max', 'Min']
  if (selectPolicy !== undefined && !selections.includes(selectPolicy)) {
    errors.push(unsupported(path.child('selectPolicy'), selectPolicy, selections))
  }
  const policiesPath = path.child('policies')
  if (policies.length === 0) errors.push(required(policiesPath, 'must specify at least one Policy'))
  for (const [i, { type = '', value, periodSeconds }] of policies.entries()) {
    const at = policiesPath.index(i)
    if (type !== 'Pods' && type !== 'Percent') errors.push(unsupported(at.child('type'), type, ['Percent', 'Pods']))
    checkPositive(errors, at.child('value'), value)
    checkPositive(errors, at.child('periodSeconds'), periodSeconds)
    if ((periodSeconds ?? 0) > maxPeriodSeconds) {
      errors.push(
        invalid(at.child('periodSeconds'), periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`),
      )
    }
  }
  if (tolerance !== undefined && quantityOf(tolerance).sign < 0) {
    const shown = quantityOf(tolerance).toString()
    errors.push(invalid(path.child('tolerance'), shown, 'must be greater than or equal to 0'))
  }
}

const sources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
type Source = (typeof sources)[number]

function validateMetric(metric: MetricSpec, path: FieldPath, options: ReferenceOptions, errors: FieldError[]): void {
  const { type = '' } = metric
  const typePath = path.child('type')
  const known = metricTypes.includes(type)
  if (type === '') errors.push(required(typePath, 'must specify a metric source type'))
  if (!known) errors.push(unsupported(typePath, type, metricTypes))
  const present = sources.filter((source) => metric[source])
  if (present[0]) validateSource(metric, present[0], path.child(present[0]), options, errors)
  const expected = `${type.charAt(0).toLowerCase()}${type.slice(1)}`
  if (known && !metric[expected as Source]) {
    errors.push(required(path.child(expected), 'must populate information for the given metric source'))
  }
  if (!known) errors.push(unsupported(typePath, type, metricTypes))
  if (present.length === 1) return
  for (const source of present) {
    if (source !== expected) errors.push(forbidden(path.child(source), 'must populate the given metric source only'))
  }
}

function validateSource(
  metric: MetricSpec,
  source: Source,
  path: FieldPath,
  options: ReferenceOptions,
  errors: FieldError[],
): void {
  const { target = {} } = metric[source] ?? {}
  const targetPath = path.child('target')
  const averagePath = targetPath.child('averageValue')
  if (source === 'object') {
    validateReference(metric.object?.describedObject ?? {}, path.child('describedObject'), options, errors)
  }
  if (source === 'object' || source === 'external' || source === 'pods') {
    validateIdentifier(metric[source]?.metric?.name ?? '', path.child('metric', 'name'), errors)
  } else validateResource(metric, source, path, errors)
  validateTarget(target, targetPath, errors)
  const { value, averageValue, averageUtilization } = target
  switch (source) {
    case 'object':
      if (value === undefined && averageValue === undefined) {
        errors.push(required(averagePath, 'must set either a target value or averageValue'))
      }
      break
    case 'external':
      if (value === undefined && averageValue === undefined) {
        errors.push(required(averagePath, 'must set either a target value for metric or a per-pod target'))
      }
      if (value !== undefined && averageValue !== undefined) {
        const text = 'may not set both a target value for metric and a per-pod target'
        errors.push(forbidden(targetPath.child('value'), text))
      }
      break
    case 'pods':
      if (averageValue === undefined) errors.push(required(averagePath, 'must specify a positive target averageValue'))
      break
    default:
      if (averageUtilization === undefined && averageValue === undefined) {
        const text = 'must set either a target raw value or a target utilization'
        errors.push(required(targetPath.child('averageUtilization'), text))
      }
      if (averageUtilization !== undefined && averageValue !== undefined) {
        errors.push(forbidden(averagePath, 'may not set both a target raw value and a target utilization'))
      }
  }
}

function validateResource(
  metric: MetricSpec,
  source: 'resource' | 'containerResource',
  path: FieldPath,
  errors: FieldError[],
): void {
  const name = metric[source]?.name
  if (!name) errors.push(required(path.child('name'), 'must specify a resource name'))
  if (source === 'resource') return
  if (name) checkContainerResourceName(errors, path.child('name'), name)
  const container = metric.containerResource?.container
  if (!container) errors.push(required(path.child('container'), 'must specify a container'))
  else addInvalid(errors, path.child('container'), container, isDNS1123Label(container))
}

function validateTarget(target: MetricTarget, path: FieldPath, errors: FieldError[]): void {
  const { type = '', averageUtilization } = target
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric target type'))
  if (!targetTypes.includes(type)) {
    errors.push(invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue'))
  }
  for (const field of ['value', 'averageValue'] as const) {
    const value = target[field]
    if (value === undefined || quantityOf(value).sign === 1) continue
    errors.push(invalid(path.child(field), quantityOf(value).toString(), 'must be positive'))
  }
  if ((averageUtilization ?? 1) < 1) {
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'))
  }
}

function validateIdentifier(name: string, path: FieldPath, errors: FieldError[]): void {
  if (name === '') errors.push(required(path, 'must specify a metric name'))
  else addInvalid(errors, path, name, isPathSegmentName(name, false))
}
