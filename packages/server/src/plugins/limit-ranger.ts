import type { Quantity } from '@kubewright/base'
import { append } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { Container, PodLike, PodSpec, ResourceList } from '../builtins/core/pod/pod-types.ts'
import { aggregateContainerLimits, aggregateContainerRequests } from '../builtins/core/pod/resources/pod-resources.ts'
import { quantityOf } from '../builtins/core/pod/resources/resource-list.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import { admissionForbidden } from './admission-forbidden.ts'
import { Amounts, type LimitRangeItem, limitProblems, requestProblems } from './limit-problems.ts'

const limitRanges = ['', 'v1', 'limitranges'] as const
const annotation = 'kubernetes.io/limit-ranger'

/** Sets the default resources of pods by the limit ranges of their namespace, and rejects pods and claims that violate a limit. */
export function limitRanger(lookup: ObjectLookup): AdmissionPlugin {
  const limitsOf = async (attributes: AdmissionAttributes): Promise<readonly (readonly LimitRangeItem[])[]> => {
    if (!applies(attributes) || attributes.old?.metadata.deletionTimestamp !== undefined) return []
    const found = await lookup.list(limitRanges, attributes.namespace)
    return found.map((range) => (range['spec'] as { limits?: LimitRangeItem[] | undefined } | undefined)?.limits ?? [])
  }
  return {
    name: 'LimitRanger',
    resources: ['/pods', '/persistentvolumeclaims'],
    mutate: async (attributes) => {
      if (attributes.resource.kind.plural !== 'pods') return
      for (const limits of await limitsOf(attributes)) fillPod(attributes.object as PodLike, limits)
    },
    validate: async (attributes) => {
      for (const limits of await limitsOf(attributes)) {
        const spec = (attributes.object?.['spec'] ?? {}) as PodSpec
        const problems = [
          ...new Set(
            attributes.resource.kind.plural === 'pods' ? podProblems(spec, limits) : claimProblems(spec, limits),
          ),
        ]
        if (problems.length === 0) continue
        throw admissionForbidden(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`)
      }
    },
  }
}

/** Pods are checked when they are created or resized, claims on every write. */
function applies({ resource, subresource, operation }: AdmissionAttributes): boolean {
  const { group, plural } = resource.kind
  if (group !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return false
  if (plural === 'pods') return operation === 'CREATE' ? subresource === '' : subresource === 'resize'
  return plural === 'persistentvolumeclaims' && subresource === ''
}

function fillPod(pod: PodLike, limits: readonly LimitRangeItem[]): void {
  const defaults = { limits: {} as Record<string, string>, requests: {} as Record<string, string> }
  for (const item of limits) {
    if (item.type !== 'Container') continue
    Object.assign(defaults.requests, item.defaultRequest)
    Object.assign(defaults.limits, item.default)
  }
  const notes: string[] = []
  for (const container of pod.spec?.containers ?? []) fillContainer(container, defaults, 'container', notes)
  for (const container of pod.spec?.initContainers ?? []) fillContainer(container, defaults, 'init container', notes)
  if (notes.length === 0) return
  const metadata = (pod.metadata ??= {})
  metadata.annotations = { ...metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` }
}

function fillContainer(
  container: Container,
  defaults: Readonly<Record<'limits' | 'requests', Readonly<Record<string, string>>>>,
  what: string,
  notes: string[],
): void {
  const resources = (container.resources ??= {})
  for (const which of ['requests', 'limits'] as const) {
    const given = (resources[which] ?? {}) as Record<string, string | undefined>
    const missing = Object.keys(defaults[which]).filter((name) => given[name] === undefined)
    if (missing.length === 0) continue
    for (const name of missing) given[name] = defaults[which][name]
    resources[which] = given
    notes.push(`${missing.sort().join(', ')} ${which.slice(0, -1)} for ${what} ${container.name}`)
  }
}

function podProblems(spec: PodSpec, limits: readonly LimitRangeItem[]): string[] {
  const problems: string[] = []
  for (const item of limits) {
    if (item.type === 'Container') {
      for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
        append(problems, limitProblems(item, new Amounts(parsed(resources?.requests), parsed(resources?.limits))))
      }
    } else if (item.type === 'Pod') {
      const requests = aggregateContainerRequests(spec)
      const upper = aggregateContainerLimits(spec)
      for (const name of ['cpu', 'memory']) {
        const [request, limit] = [spec.resources?.requests?.[name], spec.resources?.limits?.[name]]
        if (request !== undefined) requests.set(name, quantityOf(request))
        if (limit !== undefined) upper.set(name, quantityOf(limit))
      }
      append(problems, limitProblems(item, new Amounts(requests, upper)))
    }
  }
  return problems
}

function claimProblems(spec: { readonly resources?: unknown }, limits: readonly LimitRangeItem[]): string[] {
  const requests = parsed((spec.resources as { requests?: ResourceList | undefined } | undefined)?.requests)
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => requestProblems(item, new Amounts(requests, new Map())))
}

function parsed(list: ResourceList | undefined): Map<string, Quantity> {
  return new Map(Object.entries(list ?? {}).map(([name, value]) => [name, quantityOf(value)]))
}
