import { newForbidden } from '@kubewright/api'
import { nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import type { BuiltinResource, BuiltinTable } from '../../builtin-resources.ts'
import { checkEnum } from '../../checks/field-checks.ts'
import { checkImmutable, metadataPath } from '../../checks/strategy-checks.ts'

interface PriorityClass {
  value?: number
  globalDefault?: boolean
  preemptionPolicy?: string
}

const highestUserPriority = 1_000_000_000
const systemPrefix = 'system-'
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const policyPath = FieldPath.of('preemptionPolicy')

/** PriorityClasses (pkg/registry/scheduling/priorityclass). */
export const priorityClasses: BuiltinResource = {
  strategy: {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['update'],
    setDefaults: (object) => {
      object['preemptionPolicy'] ??= 'PreemptLowerPriority'
    },
    // It starts at one like the others, and stays.
    generation: () => false,
    validate: (object) => {
      const errors: FieldError[] = []
      const { value = 0, preemptionPolicy } = object as PriorityClass
      const { name = '' } = object.metadata
      if (name.startsWith(systemPrefix)) {
        const problem = systemClassProblem(object)
        if (problem !== undefined) {
          const text = `priority class names with '${systemPrefix}' prefix are reserved for system use only`
          errors.push(forbidden(metadataPath.child('name'), `${text}. error: ${problem}`))
        }
      } else if (value > highestUserPriority) {
        const text = `maximum allowed value of a user defined priority is ${highestUserPriority}`
        errors.push(forbidden(FieldPath.of('value'), text))
      }
      checkEnum(errors, policyPath, preemptionPolicy, ['PreemptLowerPriority', 'Never'], true)
      return errors
    },
    validateUpdate: (object, old) => {
      const errors: FieldError[] = []
      if ((object['value'] ?? 0) !== (old['value'] ?? 0)) {
        errors.push(forbidden(FieldPath.of('value'), 'may not be changed in an update.'))
      }
      checkImmutable(errors, policyPath, object['preemptionPolicy'], old['preemptionPolicy'])
      return errors
    },
    beginDelete: ({ metadata: { name = '' } }) => {
      if (systemClasses.has(name)) {
        const resource = { group: 'scheduling.k8s.io', resource: 'priorityclasses' }
        throw newForbidden(resource, name, 'this is a system priority class and cannot be deleted')
      }
      return 'continue'
    },
  },
}

/** Why an object is not exactly one of the classes that the system itself makes. */
function systemClassProblem(object: MutableObject): string | undefined {
  const { name = '' } = object.metadata
  const { value = 0, globalDefault = false } = object as PriorityClass
  const expected = systemClasses.get(name)
  if (expected === undefined) return `${name} is not a known system priority class`
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

/** The resources of the scheduling.k8s.io group. */
export const schedulingResources: BuiltinTable = { 'scheduling.k8s.io/priorityclasses': priorityClasses }
