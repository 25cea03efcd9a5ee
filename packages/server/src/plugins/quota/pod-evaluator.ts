import { parseRFC3339, Quantity } from '@kubewright/base'
import { podQosClass } from '../../builtins/core/pod/pod-qos.ts'
import type { PodLike, PodSpec, ResourceList } from '../../builtins/core/pod/pod-types.ts'
import {
  aggregateContainerLimits,
  aggregateContainerRequests,
  isPodLevelResource,
} from '../../builtins/core/pod/resources/pod-resources.ts'
import { addResources, quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { QuotaEvaluator, ScopeSelector, Usage } from './quota-evaluator.ts'

const one = Quantity.of(1)
const compute = ['cpu', 'memory', 'ephemeral-storage']
const named = new Set([
  'count/pods',
  'pods',
  ...compute.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
])
/** The resources that every container must set when a quota limits them. */
const demanded = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

/** Counts pods with their requests and limits. */
export const podEvaluator: QuotaEvaluator = {
  handles: ({ operation, subresource, object, old }) => {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    if (operation === 'UPDATE') return isTerminating(object!) !== isTerminating(old!)
    return operation === 'CREATE'
  },
  covers: (name) =>
    named.has(name) ||
    /^(requests\.)?hugepages-/.test(name) ||
    (name.startsWith('requests.') && isExtended(name.slice(9))),
  matchesScope,
  usage: (object, now) => {
    const usage: Usage = new Map([['count/pods', one]])
    if (!isCounted(object, now)) return usage
    const spec = specOf(object)
    const requests = aggregateContainerRequests(spec)
    const limits = aggregateContainerLimits(spec)
    takePodLevel(requests, spec.resources?.requests)
    takePodLevel(limits, spec.resources?.limits)
    addResources(requests, spec.overhead)
    for (const [name, value] of Object.entries(spec.overhead ?? {})) {
      const limit = limits.get(name)
      if (limit) limits.set(name, limit.add(quantityOf(value)))
    }
    for (const [name, amount] of countedAs(requests, limits)) usage.set(name, amount)
    return usage
  },
  missing: (covered, object) => {
    const spec = specOf(object)
    if (Object.keys(spec.resources?.requests ?? {}).length + Object.keys(spec.resources?.limits ?? {}).length > 0) {
      return undefined
    }
    const lacking = new Map<string, Set<string>>()
    for (const { name = '', resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      const given = countedAs(parsed(resources?.requests), parsed(resources?.limits))
      for (const wanted of covered) {
        if (!demanded.has(wanted) || given.has(wanted)) continue
        const containers = lacking.get(wanted)
        if (containers) containers.add(name)
        else lacking.set(wanted, new Set([name]))
      }
    }
    if (lacking.size === 0) return undefined
    const texts = [...lacking.keys()].sort().map((name) => `${name} for: ${[...lacking.get(name)!].sort().join(',')}`)
    return `must specify ${texts.join('; ')}`
  },
}

function specOf(object: MutableObject): PodSpec {
  return (object as PodLike).spec ?? {}
}

function parsed(list: ResourceList | undefined): Usage {
  return new Map(Object.entries(list ?? {}).map(([name, value]) => [name, quantityOf(value)]))
}

function takePodLevel(total: Usage, list: ResourceList | undefined): void {
  for (const [name, value] of Object.entries(list ?? {}))
    if (isPodLevelResource(name)) total.set(name, quantityOf(value))
}

/** Maps requests and limits to the resource names of quotas. */
function countedAs(requests: Usage, limits: Usage): Usage {
  const usage: Usage = new Map([['pods', one]])
  for (const name of compute) {
    const request = requests.get(name)
    const limit = limits.get(name)
    if (request) usage.set(name, request).set(`requests.${name}`, request)
    if (limit) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request).set(`requests.${name}`, request)
    else if (isExtended(name)) usage.set(`requests.${name}`, request)
  }
  return usage
}

/** Whether the resource has a domain outside of kubernetes.io, such as devices. */
function isExtended(name: string): boolean {
  const slash = name.indexOf('/')
  if (slash < 0) return false
  const domain = name.slice(0, slash)
  return (
    domain === 'deviceclass.resource.kubernetes.io' ||
    (domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io'))
  )
}

/** Pods that have terminated, or whose grace period is over, do not count. */
function isCounted(object: MutableObject, now: number): boolean {
  const phase = (object as PodLike).status?.phase
  if (phase === 'Failed' || phase === 'Succeeded') return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true
  return now <= (parseRFC3339(deletionTimestamp).seconds + deletionGracePeriodSeconds) * 1000
}

function isTerminating(object: MutableObject): boolean {
  return (specOf(object).activeDeadlineSeconds ?? -1) >= 0
}

function matchesScope(scope: ScopeSelector, object: MutableObject): boolean {
  const spec = specOf(object)
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(object)
    case 'NotTerminating':
      return !isTerminating(object)
    case 'BestEffort':
      return podQosClass(spec) === 'BestEffort'
    case 'NotBestEffort':
      return podQosClass(spec) !== 'BestEffort'
    case 'PriorityClass':
      return matchesPriority(scope, spec.priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(spec)
    default:
      return false
  }
}

function matchesPriority({ operator, values = [] }: ScopeSelector, name: string): boolean {
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  return operator === 'In' ? name !== '' && values.includes(name) : !values.includes(name) || name === ''
}

function crossesNamespaces({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((rules) =>
    [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm),
    ].some((term) => (term?.namespaces ?? []).length > 0 || term?.namespaceSelector !== undefined),
  )
}
