import { append, nameIsDNSLabel, nameIsDNSSubdomain } from '@kubewright/base'
import type * as node from '@kubewright/k8s/node/v1'
import { duplicate, type FieldError, FieldPath, validateLabels } from '@kubewright/schema'
import { goValueOf } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { deprecatedNodeLabel } from '../../checks/node-label-warnings.ts'
import { checkImmutable, structValue } from '../../checks/strategy-checks.ts'
import { validateContainerResources } from '../../core/pod/validation/containers/validate-resources.ts'
import { validateTolerations } from '../../core/pod/validation/validate-scheduling.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

interface RuntimeClass {
  handler?: string | undefined
  overhead?: Unchecked<node.Overhead> | undefined
  scheduling?: Unchecked<node.Scheduling> | undefined
}

const handlerPath = FieldPath.of('handler')
const schedulingPath = FieldPath.of('scheduling')

/** RuntimeClasses (pkg/registry/node/runtimeclass). */
export const runtimeClasses: BuiltinDefinition = defineBuiltin({
  group: 'node.k8s.io',
  resource: 'runtimeclasses',
  table: defineTable<node.RuntimeClass>([
    nameColumn,
    textColumn('Handler', 'Configuration of the container runtime.', ({ handler }) => handler ?? ''),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    anyFinalizer: true,
    metadataOnUpdate: ['create', 'update'],
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateClass,
    validateUpdate: (object, old) => {
      const errors = validateClass(object)
      checkImmutable(errors, handlerPath, object['handler'] ?? '', old['handler'] ?? '')
      return errors
    },
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
})

function warnings(object: MutableObject): string[] {
  const keys = Object.keys((object as RuntimeClass).scheduling?.nodeSelector ?? {})
  return keys.flatMap((key) => {
    const text = deprecatedNodeLabel(key)
    return text === undefined ? [] : [`${schedulingPath.child('nodeSelector')}: ${text}`]
  })
}

function validateClass(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { handler = '', overhead, scheduling } = object as RuntimeClass
  addInvalid(errors, handlerPath, handler, nameIsDNSLabel(handler, false))
  if (overhead) {
    const limits = (overhead.podFixed ?? {}) as Record<string, string | number>
    validateContainerResources({ limits }, new Set(), FieldPath.of('overhead'), errors)
  }
  if (!scheduling) return errors
  const selector = scheduling.nodeSelector as Record<string, string> | undefined
  append(errors, validateLabels(selector, schedulingPath.child('nodeSelector')))
  const tolerations = scheduling.tolerations ?? []
  const path = schedulingPath.child('tolerations')
  validateTolerations(tolerations, path, errors)
  const seen = new Set<string>()
  for (const [i, toleration] of tolerations.entries()) {
    const { key = '', operator = '', value = '', effect = '' } = toleration
    const identity = JSON.stringify([key, operator, value, effect])
    if (seen.has(identity)) errors.push(duplicate(path.index(i), structValue(goValueOf('Toleration', toleration))))
    seen.add(identity)
  }
  return errors
}
