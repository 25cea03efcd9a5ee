import { Quantity } from '@kubewright/base'
import { quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import { storageClassAnnotation } from '../default-storage-class.ts'
import { deviceClaimEvaluator } from './device-claim-evaluator.ts'
import { podEvaluator } from './pod-evaluator.ts'
import type { QuotaEvaluator, Usage } from './quota-evaluator.ts'

const one = Quantity.of(1)
/** Resources whose count has two names: the plural alone, and `count/` with the plural. */
const aliases = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])
const ignored = new Set(['/bindings', '/componentstatuses', '/events', 'events.k8s.io/events'])

/** The evaluator of a resource, or undefined when no quota applies to it. */
export function evaluatorFor({ kind, virtual }: Resource): QuotaEvaluator | undefined {
  const { group, plural } = kind
  if (virtual || ignored.has(`${group}/${plural}`) || group.startsWith('auth')) return undefined
  if (group === '') {
    if (plural === 'pods') return podEvaluator
    if (plural === 'services') return serviceEvaluator
    if (plural === 'persistentvolumeclaims') return claimEvaluator
  }
  if (group === 'resource.k8s.io' && plural === 'resourceclaims') return deviceClaimEvaluator
  const count = group === '' ? `count/${plural}` : `count/${plural}.${group}`
  const names = new Set(group === '' && aliases.has(plural) ? [count, plural] : [count])
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    covers: (name) => names.has(name),
    matchesScope: () => false,
    usage: () => new Map([...names].map((name) => [name, one])),
  }
}

/** The fields of a service that are counted. */
interface ServiceSpec {
  readonly type?: string | undefined
  readonly ports?: readonly { readonly nodePort?: number | undefined }[] | undefined
  readonly allocateLoadBalancerNodePorts?: boolean | undefined
}

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])
const serviceEvaluator: QuotaEvaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  covers: (name) => serviceNames.has(name),
  matchesScope: () => false,
  usage: (object) => {
    const { type, ports = [], allocateLoadBalancerNodePorts } = (object['spec'] ?? {}) as ServiceSpec
    const balanced = type === 'LoadBalancer'
    const chosen = ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0).length
    const allocated = type === 'NodePort' || (balanced && allocateLoadBalancerNodePorts !== false)
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.loadbalancers', Quantity.of(balanced ? 1 : 0)],
      ['services.nodeports', Quantity.of(allocated ? ports.length : balanced ? chosen : 0)],
    ])
  },
}

/** The fields of a claim that are counted. */
interface ClaimParts {
  readonly spec?:
    | {
        readonly storageClassName?: string | undefined
        readonly volumeAttributesClassName?: string | undefined
        readonly resources?: { readonly requests?: Readonly<Record<string, string>> | undefined } | undefined
      }
    | undefined
  readonly status?: { readonly allocatedResources?: Readonly<Record<string, string>> | undefined } | undefined
}

const classInfix = '.storageclass.storage.k8s.io/'
const claimEvaluator: QuotaEvaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  covers: (name) =>
    /^(count\/persistentvolumeclaims|(.*\.storageclass\.storage\.k8s\.io\/)?(persistentvolumeclaims|requests\.storage))$/.test(
      name,
    ),
  matchesScope: ({ scopeName, operator, values = [] }, object) => {
    if (scopeName !== 'VolumeAttributesClass') return false
    const name = (object as ClaimParts).spec?.volumeAttributesClassName ?? ''
    if (operator === 'Exists') return name !== ''
    if (operator === 'DoesNotExist') return name === ''
    return operator === 'In' ? name !== '' && values.includes(name) : !values.includes(name)
  },
  usage: (object) => {
    const usage: Usage = new Map([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ])
    const name = object.metadata.annotations?.[storageClassAnnotation] ?? (object as ClaimParts).spec?.storageClassName
    const size = storageOf(object)
    if (size) usage.set('requests.storage', size)
    if (name) {
      usage.set(`${name}${classInfix}persistentvolumeclaims`, one)
      if (size) usage.set(`${name}${classInfix}requests.storage`, size)
    }
    return usage
  },
}

function storageOf(object: MutableObject): Quantity | undefined {
  const { spec, status } = object as ClaimParts
  const storage = spec?.resources?.requests?.['storage']
  if (storage === undefined) return undefined
  const request = quantityOf(storage)
  const allocated = status?.allocatedResources?.['storage']
  return allocated !== undefined && quantityOf(allocated).cmp(request) > 0 ? quantityOf(allocated) : request
}
