import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { PodLike, PodSpec } from '../builtins/core/pod/pod-types.ts'
import type { ObjectLookup, SharedObject } from '../registry/object-lookup.ts'
import { admissionForbidden, isAbout } from './admission-forbidden.ts'

const priorityClasses = ['scheduling.k8s.io', 'v1', 'priorityclasses'] as const

/** The fields of a priority class that the plugin reads. */
interface PriorityClass extends SharedObject {
  readonly value?: number | undefined
  readonly globalDefault?: boolean | undefined
  readonly preemptionPolicy?: string | undefined
}

/** Sets the priority of a pod from its priority class, and rejects a second default class. */
export function podPriority(lookup: ObjectLookup): AdmissionPlugin {
  const defaultClass = async (): Promise<PriorityClass | undefined> => {
    let found: PriorityClass | undefined
    for (const candidate of (await lookup.list(priorityClasses)) as PriorityClass[]) {
      if (candidate.globalDefault && (!found || (found.value ?? 0) > (candidate.value ?? 0))) found = candidate
    }
    return found
  }
  const classOf = async (attributes: AdmissionAttributes, spec: PodSpec): Promise<PriorityClass | undefined> => {
    const name = spec.priorityClassName
    if (!name) return defaultClass()
    const found = await lookup.find(priorityClasses, '', name)
    if (!found) throw admissionForbidden(attributes, `no PriorityClass with name ${name} was found`)
    return found as PriorityClass
  }
  return {
    name: 'Priority',
    resources: ['/pods', 'scheduling.k8s.io/priorityclasses'],
    mutate: async (attributes) => {
      if (!isAbout(attributes, '', 'pods')) return
      const spec = ((attributes.object as PodLike | undefined)?.spec ?? {}) as PodSpec
      if (attributes.operation === 'UPDATE') return keepPriority(spec, (attributes.old as PodLike).spec ?? {})
      if (attributes.operation !== 'CREATE') return
      const found = await classOf(attributes, spec)
      if (found) spec.priorityClassName = found.metadata.name!
      setPriority(attributes, spec, found?.value ?? 0)
      setPreemptionPolicy(attributes, spec, found ? found.preemptionPolicy : 'PreemptLowerPriority')
    },
    validate: async (attributes) => {
      const { operation, object } = attributes
      if (!isAbout(attributes, 'scheduling.k8s.io', 'priorityclasses')) return
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || object?.['globalDefault'] !== true) return
      const found = await defaultClass()
      if (!found || (operation === 'UPDATE' && found.metadata.name === object.metadata.name)) return
      throw admissionForbidden(
        attributes,
        `PriorityClass ${found.metadata.name} is already marked as default. Only one default can exist`,
      )
    },
  }
}

/** Keeps the priority on updates of old clients that drop unknown fields. */
function keepPriority(spec: PodSpec, old: PodSpec): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) {
    spec.preemptionPolicy = old.preemptionPolicy
  }
}

function setPriority(attributes: AdmissionAttributes, spec: PodSpec, computed: number): void {
  if (spec.priority !== undefined && spec.priority !== computed) {
    throw admissionForbidden(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
    )
  }
  spec.priority = computed
}

function setPreemptionPolicy(attributes: AdmissionAttributes, spec: PodSpec, computed: string | undefined): void {
  if (computed === undefined) return
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== computed) {
    throw admissionForbidden(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
    )
  }
  spec.preemptionPolicy = computed
}
