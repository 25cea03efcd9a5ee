import { deepEqual, goQuote } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { PodLike, PodSpec, ResourceList } from '../builtins/core/pod/pod-types.ts'
import { canonicalQuantity } from '../builtins/core/pod/resources/resource-list.ts'
import type { ObjectLookup, SharedObject } from '../registry/object-lookup.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { admissionForbidden, isAbout } from './admission-forbidden.ts'
import { unrequestableName } from './unrequestable-name.ts'

const runtimeClasses = ['node.k8s.io', 'v1', 'runtimeclasses'] as const

/** The fields of a runtime class that the plugin reads. */
interface RuntimeClassObject extends SharedObject {
  readonly overhead?: { readonly podFixed?: Readonly<Record<string, string>> | undefined } | undefined
  readonly scheduling?:
    | {
        readonly nodeSelector?: Readonly<Record<string, string>> | undefined
        readonly tolerations?: readonly Readonly<Record<string, unknown>>[] | undefined
      }
    | undefined
}

/** Adds the overhead and the scheduling constraints of a pod's runtime class to the pod. */
export function runtimeClass(lookup: ObjectLookup): AdmissionPlugin {
  const classOf = async (attributes: AdmissionAttributes): Promise<RuntimeClassObject | undefined> => {
    const name = specOf(attributes).runtimeClassName
    if (name === undefined || name === null) return undefined
    const found = await lookup.find(runtimeClasses, '', name)
    if (found) return found
    const problem = unrequestableName(name)
    if (problem !== undefined) throw unclassifiedError(problem)
    throw admissionForbidden(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`)
  }
  const applies = (attributes: AdmissionAttributes): boolean =>
    isAbout(attributes, '', 'pods') && attributes.operation === 'CREATE'
  return {
    name: 'RuntimeClass',
    resources: ['/pods'],
    mutate: async (attributes) => {
      if (!applies(attributes)) return
      const found = await classOf(attributes)
      if (found?.overhead) setOverhead(attributes, found.overhead.podFixed ?? {})
      if (found?.scheduling) setScheduling(attributes, found.scheduling)
    },
    validate: async (attributes) => {
      if (!applies(attributes)) return
      const found = await classOf(attributes)
      const { overhead } = specOf(attributes)
      if (found?.overhead) {
        if (!sameList(overhead, found.overhead.podFixed)) throw mismatch(attributes)
      } else if (overhead !== undefined) {
        const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
        throw admissionForbidden(attributes, why)
      }
    },
  }
}

function specOf(attributes: AdmissionAttributes): PodSpec {
  return (attributes.object as PodLike).spec ?? {}
}

function setOverhead(attributes: AdmissionAttributes, podFixed: Readonly<Record<string, string>>): void {
  const spec = specOf(attributes)
  if (Object.keys(spec.overhead ?? {}).length > 0 && !sameList(spec.overhead, podFixed)) throw mismatch(attributes)
  spec.overhead = { ...podFixed }
}

function mismatch(attributes: AdmissionAttributes): Error {
  return admissionForbidden(attributes, `pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`)
}

function setScheduling(
  attributes: AdmissionAttributes,
  scheduling: NonNullable<RuntimeClassObject['scheduling']>,
): void {
  const spec = specOf(attributes)
  const selector: Record<string, string | undefined> = { ...(spec.nodeSelector as object | undefined) }
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const given = selector[key]
    if (given !== undefined && given !== value) {
      throw admissionForbidden(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${given}`,
      )
    }
    selector[key] = value
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector
  const tolerations = spec.tolerations ?? []
  const added = (scheduling.tolerations ?? []).filter((more) => !tolerations.some((known) => deepEqual(known, more)))
  if (added.length > 0) spec.tolerations = [...tolerations, ...added.map((toleration) => ({ ...toleration }))]
}

function sameList(a: ResourceList | undefined, b: ResourceList | undefined): boolean {
  return deepEqual(canonical(a), canonical(b))
}

function canonical(list: ResourceList | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, value]) => [name, canonicalQuantity(value ?? 0)]))
}
