import { append, deepCopy, formatRFC3339, instantFromMillis, nameIsDNSSubdomain } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { carryOver, withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { ipWarnings } from '../../checks/ip-warnings.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { fillAppArmorFields } from './defaults/app-armor-fields.ts'
import { defaultPod } from './defaults/default-pod-spec.ts'
import { withoutDisabledFields } from './defaults/drop-disabled-fields.ts'
import { setPodCondition } from './pod-condition.ts'
import { podQosClass } from './pod-qos.ts'
import { podTable } from './pod-table.ts'
import type { PodLike, PodSpec } from './pod-types.ts'
import { podSubresources } from './subresources/pod-subresources.ts'
import { podSpecOf, validatePodCreate, validatePodUpdate } from './validation/validate-pod.ts'
import { validateEphemeralContainersUpdate, validatePodResize } from './validation/validate-pod-resize.ts'
import { validatePodStatusUpdate } from './validation/validate-pod-status.ts'
import { podWarnings } from './warnings/pod-warnings.ts'

type PodStatus = NonNullable<PodLike['status']>

const strategy: Strategy = withoutDisabledFields(
  {
    validateName: nameIsDNSSubdomain,
    setDefaults: (pod) => defaultPod(pod as PodLike),
    generation: true,
    returnDeletedObject: true,
    prepareForCreate: (pod, { now, request }) => {
      const spec = podSpecOf(pod)
      const status: PodStatus = { phase: 'Pending', qosClass: podQosClass(spec) }
      if ((spec.schedulingGates ?? []).length > 0) {
        setPodCondition(status, formatRFC3339(instantFromMillis(now)), {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        })
      }
      pod['status'] = status
      mergeLabelKeys(spec, pod.metadata.labels ?? {})
      fillAppArmorFields(pod, request.warn)
    },
    validate: validatePodCreate,
    validateUpdate: validatePodUpdate,
    warningsOnCreate: (pod) => podWarnings(pod as PodLike),
    gracePeriod: (pod, requested) => {
      const { nodeName, terminationGracePeriodSeconds = 0 } = podSpecOf(pod)
      const phase = (pod['status'] as PodStatus | undefined)?.phase
      // No container of the pod runs.
      if (!nodeName || phase === 'Failed' || phase === 'Succeeded') return 0
      const period = requested ?? terminationGracePeriodSeconds
      return period < 0 ? 1 : period
    },
  },
  podSpecOf,
)

/** Adds requirements for `matchLabelKeys` and `mismatchLabelKeys` to the selectors beside them, with the values of the pod's labels. */
function mergeLabelKeys(spec: PodSpec, labels: Readonly<Record<string, string>>): void {
  interface Term {
    labelSelector?: { matchExpressions?: object[] | undefined } | undefined
    matchLabelKeys?: string[] | undefined
    mismatchLabelKeys?: string[] | undefined
  }
  const merge = ({ labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Term): void => {
    if (!labelSelector) return
    const add = (key: string, operator: string): void => {
      const value = labels[key]
      if (value !== undefined) (labelSelector.matchExpressions ??= []).push({ key, operator, values: [value] })
    }
    for (const key of matchLabelKeys) add(key, 'In')
    for (const key of mismatchLabelKeys) add(key, 'NotIn')
  }
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = spec.affinity?.[kind]
    for (const term of terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []) merge(term.podAffinityTerm ?? {})
    for (const term of terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []) merge(term)
  }
  for (const constraint of spec.topologySpreadConstraints ?? []) merge(constraint)
}

/** Removes fields of the status whose feature gate is off by default. */
function dropDisabledStatus(status: PodStatus): void {
  delete status.resources
  delete status.allocatedResources
  delete status.extendedResourceClaimStatus
  for (const field of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const container of status[field] ?? []) delete container.allocatedResourcesStatus
  }
}

const { strategy: main, subresources } = withStatus(strategy, {
  keeps: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
  prepareForUpdate: (pod, old) => {
    const status = (pod['status'] ??= {}) as PodStatus
    const before = (old['status'] ?? {}) as PodStatus
    status.qosClass ||= before.qosClass
    dropDisabledStatus(status)
    status.observedGeneration ||= before.observedGeneration
    const known = new Map<string | undefined, (number | undefined)[]>()
    for (const { type, observedGeneration } of before.conditions ?? []) {
      known.set(type, [...(known.get(type) ?? []), observedGeneration])
    }
    for (const condition of status.conditions ?? []) {
      const generation = known.get(condition.type)?.shift()
      if (generation) condition.observedGeneration ||= generation
    }
  },
  validateUpdate: validatePodStatusUpdate,
  warningsOnUpdate: (pod) => {
    const status = pod['status'] as PodStatus | undefined
    const warnings: string[] = []
    for (const field of ['podIPs', 'hostIPs'] as const) {
      for (const [i, { ip = '' }] of (status?.[field] ?? []).entries()) {
        append(warnings, ipWarnings(FieldPath.of('status', field).index(i).child('ip'), ip))
      }
    }
    return warnings
  },
})

/** Restores everything except the ephemeral containers. */
function keepAllButEphemeral(pod: MutableObject, old: MutableObject): void {
  const added = podSpecOf(pod).ephemeralContainers
  carryOver(pod, old, ['spec'])
  carryOver(pod, old, ['status'])
  resetForStatus(pod, old)
  const spec = podSpecOf(pod)
  if (added) spec.ephemeralContainers = added
  else delete spec.ephemeralContainers
}

/** Restores everything except resources and resize policies. Containers with other names stay, so that validation rejects them. */
function keepAllButResources(pod: MutableObject, old: MutableObject): void {
  const next = podSpecOf(pod)
  const before = podSpecOf(old)
  const sameLength = (['containers', 'initContainers'] as const).every(
    (list) => (next[list] ?? []).length === (before[list] ?? []).length,
  )
  if (!sameLength) return
  carryOver(pod, old, ['spec'])
  carryOver(pod, old, ['status'])
  resetForStatus(pod, old)
  const spec = podSpecOf(pod)
  for (const list of ['containers', 'initContainers'] as const) {
    const now = next[list] ?? []
    const kept = spec[list] ?? []
    if (now.some(({ name }, i) => name !== kept[i]!.name)) {
      spec[list] = now
      continue
    }
    for (const [i, { resources, resizePolicy }] of now.entries()) {
      const container = kept[i]!
      container.resources = deepCopy(resources ?? {}) as typeof resources
      if (resizePolicy) container.resizePolicy = resizePolicy
      else delete container.resizePolicy
    }
  }
}

const { beginCreate: _, warningsOnCreate: __, ...shared } = strategy

/**
 * Pods (pkg/registry/core/pod). The subresources ephemeralcontainers and resize drop changes of other fields, but, as in kube-apiserver,
 * the writer becomes the manager of those fields.
 */
export const pods: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'pods',
  table: podTable,
  strategy: main,
  withServer: (server) => ({ subresources: podSubresources(server) }),
  subresources: {
    ...subresources,
    ephemeralcontainers: {
      verbs: ['get', 'patch', 'update'],
      hasTable: false,
      strategy: {
        ...shared,
        prepareForUpdate: keepAllButEphemeral,
        validateUpdate: validateEphemeralContainersUpdate,
      },
    },
    resize: {
      verbs: ['get', 'patch', 'update'],
      hasTable: false,
      strategy: {
        ...shared,
        prepareForUpdate: keepAllButResources,
        validateUpdate: validatePodResize,
      },
    },
  },
  selectableFields: {
    'spec.nodeName': (pod) => podSpecOf(pod).nodeName ?? '',
    'spec.host': (pod) => podSpecOf(pod).nodeName ?? '',
    'spec.restartPolicy': (pod) => podSpecOf(pod).restartPolicy ?? '',
    'spec.schedulerName': (pod) => podSpecOf(pod).schedulerName ?? '',
    'spec.serviceAccountName': (pod) => podSpecOf(pod).serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(podSpecOf(pod).hostNetwork ?? false),
    'status.phase': (pod) => (pod['status'] as PodStatus | undefined)?.phase ?? '',
    'status.podIP': (pod) => (pod['status'] as PodStatus | undefined)?.podIPs?.[0]?.ip ?? '',
    // As in kube-apiserver: the field is accepted, but has no value.
    'status.podIPs': () => '',
    'status.nominatedNodeName': (pod) => (pod['status'] as PodStatus | undefined)?.nominatedNodeName ?? '',
  },
  unknownField: (label) => `field label not supported: ${label}`,
})
