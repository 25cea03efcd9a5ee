import type { MetricSpec, MetricStatus, MetricTarget } from './hpa-types.ts'

// v1 has a field for CPU utilization only. It keeps other metrics in annotations, in the form of v2alpha1, whose field names for targets
// differ from v2. Fields are written in the order of the Go types, because the annotation is a text.

/** A metric in the form of the annotation. Its type determines its fields. */
export type MetricV1 = Record<string, Record<string, unknown> | string | undefined>

type Json = Record<string, unknown>
type Reference = NonNullable<NonNullable<MetricSpec['object']>['describedObject']>

/** Drops undefined fields. */
function compact(value: Json): Json {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}

/** Converts a metric to the form of the annotation. */
export function metricSpecToV1({
  type = '',
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricSpec): MetricV1 {
  return compact({
    type,
    object: object && {
      target: referenceOf(object.describedObject),
      metricName: object.metric?.name ?? '',
      targetValue: object.target?.value ?? '0',
      ...compact({ selector: object.metric?.selector, averageValue: object.target?.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric?.name ?? '',
      targetAverageValue: pods.target?.averageValue ?? '0',
      ...compact({ selector: pods.metric?.selector }),
    },
    resource: resource && { name: resource.name ?? '', ...targetToV1(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      ...targetToV1(containerResource.target),
      container: containerResource.container ?? '',
    },
    external:
      external &&
      compact({
        metricName: external.metric?.name ?? '',
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      }),
  }) as MetricV1
}

/** Converts the status of a metric to the form of the annotation. */
export function metricStatusToV1(status: MetricStatus): MetricV1 {
  const { type = '', object, pods, resource, containerResource, external } = status
  return compact({
    type,
    object: object && {
      target: referenceOf(object.describedObject),
      metricName: object.metric?.name ?? '',
      currentValue: object.current?.value ?? '0',
      ...compact({ selector: object.metric?.selector, averageValue: object.current?.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric?.name ?? '',
      currentAverageValue: pods.current?.averageValue ?? '0',
      ...compact({ selector: pods.metric?.selector }),
    },
    resource: resource && { name: resource.name ?? '', ...currentToV1(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name ?? '',
      ...currentToV1(containerResource.current),
      container: containerResource.container ?? '',
    },
    external: external && {
      metricName: external.metric?.name ?? '',
      ...compact({ metricSelector: external.metric?.selector }),
      currentValue: external.current?.value ?? '0',
      ...compact({ currentAverageValue: external.current?.averageValue }),
    },
  }) as MetricV1
}

function referenceOf(reference: Reference = {}): Json {
  const { kind = '', name = '', apiVersion } = reference
  return { kind, name, ...(apiVersion ? { apiVersion } : {}) }
}

function targetToV1(target: MetricTarget = {}): Json {
  return compact({ targetAverageUtilization: target.averageUtilization, targetAverageValue: target.averageValue })
}

function currentToV1(current: MetricTarget = {}): Json {
  return {
    ...compact({ currentAverageUtilization: current.averageUtilization }),
    currentAverageValue: current.averageValue ?? '0',
  }
}

/** Converts a metric from the form of the annotation. Values of unexpected types stay, so that validation reports them. */
export function metricSpecFromV1(metric: MetricV1): MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric as Record<string, Json | undefined>
  return compact({
    type,
    object: object && {
      describedObject: object['target'] ?? {},
      target: compact({
        type: object['averageValue'] === undefined ? 'Value' : 'AverageValue',
        value: object['targetValue'] ?? '0',
        averageValue: object['averageValue'],
      }),
      metric: identifierOf(object, 'selector'),
    },
    pods: pods && {
      metric: identifierOf(pods, 'selector'),
      target: { type: 'AverageValue', averageValue: pods['targetAverageValue'] ?? '0' },
    },
    resource: resource && { name: resource['name'], target: targetFromV1(resource) },
    containerResource: containerResource && {
      name: containerResource['name'],
      target: targetFromV1(containerResource),
      container: containerResource['container'],
    },
    external: external && {
      metric: identifierOf(external, 'metricSelector'),
      target: compact({
        type: external['targetValue'] === undefined ? 'AverageValue' : 'Value',
        value: external['targetValue'],
        averageValue: external['targetAverageValue'],
      }),
    },
  }) as MetricSpec
}

/** Converts the status of a metric from the form of the annotation. */
export function metricStatusFromV1(metric: MetricV1): MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric as Record<string, Json | undefined>
  return compact({
    type,
    object: object && {
      metric: identifierOf(object, 'selector'),
      current: compact({ value: object['currentValue'] ?? '0', averageValue: object['averageValue'] }),
      describedObject: object['target'] ?? {},
    },
    pods: pods && {
      metric: identifierOf(pods, 'selector'),
      current: { averageValue: pods['currentAverageValue'] ?? '0' },
    },
    resource: resource && { name: resource['name'], current: currentFromV1(resource) },
    containerResource: containerResource && {
      name: containerResource['name'],
      current: currentFromV1(containerResource),
      container: containerResource['container'],
    },
    external: external && {
      metric: identifierOf(external, 'metricSelector'),
      current: compact({ value: external['currentValue'] ?? '0', averageValue: external['currentAverageValue'] }),
    },
  }) as MetricStatus
}

function identifierOf(source: Json, selector: string): Json {
  return compact({ name: source['metricName'] ?? '', selector: source[selector] })
}

function targetFromV1(source: Json): Json {
  const utilization = source['targetAverageUtilization']
  return compact({
    type: utilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: source['targetAverageValue'],
    averageUtilization: utilization,
  })
}

function currentFromV1(source: Json): Json {
  return compact({
    averageValue: source['currentAverageValue'] ?? '0',
    averageUtilization: source['currentAverageUtilization'],
  })
}
