import { newForbidden } from '@kubewright/api'
import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as scheduling from '@kubewright/k8s/scheduling/v1'
import { type FieldError, FieldPath, forbidden } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, booleanColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { checkEnum } from '../../checks/field-checks.ts'
import { checkImmutableNamed, metadataPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface PriorityClass {
  value?: number | undefined
  globalDefault?: boolean | undefined
  preemptionPolicy?: string | undefined
}

const highestUserPriority = 1_000_000_000
const systemPrefix = 'system-'
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const policyPath = FieldPath.of('preemptionPolicy')

/** PriorityClasses (pkg/registry/scheduling/priorityclass). */
export const priorityClasses: BuiltinDefinition = defineBuiltin({
  group: 'scheduling.k8s.io',
  resource: 'priorityclasses',
  table: defineTable<scheduling.PriorityClass>([
    nameColumn,
    integerColumn('Value', 'Priority of the pods.', ({ value }) => value ?? 0),
    booleanColumn(
      'Global-Default',
      'Whether pods without a class have this priority.',
      ({ globalDefault }) => globalDefault ?? false,
    ),
    ageColumn,
    textColumn(
      'PreemptionPolicy',
      'Whether the pods may preempt others.',
      ({ preemptionPolicy }) => preemptionPolicy ?? '',
    ),
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['update'],
    setDefaults: (object) => {
      object['preemptionPolicy'] ??= 'PreemptLowerPriority'
    },
    // The generation starts at 1 and never changes.
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
      checkImmutableNamed(errors, policyPath, object['preemptionPolicy'], old['preemptionPolicy'])
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
})

/** Returns why an object does not match one of the two classes that every cluster has; undefined if it matches. */
function systemClassProblem(object: MutableObject): string | undefined {
  const { name = '' } = object.metadata
  const { value = 0, globalDefault = false } = object as PriorityClass
  const expected = systemClasses.get(name)
  if (expected === undefined) return `${name} is not a known system priority class`
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}
