import { isPathSegmentName } from '@kubewright/base'
import type { PodDisruptionBudget } from '@kubewright/k8s'
import type * as policy from '@kubewright/k8s/policy/v1'
import { type FieldError, invalid } from '@kubewright/schema'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { checkAtMostAll, checkIntOrPercent } from '../../apps/workload/rolling-update.ts'
import { checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import { checkSelector, part, specPath, statusPath, structValue } from '../../checks/strategy-checks.ts'
import { validateConditions } from '../../checks/validate-conditions.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<policy.PodDisruptionBudgetSpec>
type Status = Unchecked<policy.PodDisruptionBudgetStatus>

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

/** PodDisruptionBudgets (pkg/registry/policy/poddisruptionbudget). */
export const podDisruptionBudgets: BuiltinDefinition = defineBuiltin({
  group: 'policy',
  resource: 'poddisruptionbudgets',
  table: defineTable<PodDisruptionBudget>([
    nameColumn,
    textColumn('Min Available', 'Pods that have to stay available.', ({ spec }) => String(spec?.minAvailable ?? 'N/A')),
    textColumn('Max Unavailable', 'Pods that may be unavailable.', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')),
    integerColumn(
      'Allowed Disruptions',
      'Number of pods that may be evicted now.',
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ]),
  ...withStatus(
    {
      // As in kube-apiserver: metadata has no checks beyond those of every object.
      validateName: isPathSegmentName,
      anyFinalizer: true,
      metadataOnCreate: false,
      metadataOnUpdate: [],
      allowUnconditionalUpdate: false,
      generation: true,
      validate: (object) => validateSpec(part<Spec>(object, 'spec'), false),
      validateUpdate: (object, old) => {
        const before: FieldError[] = []
        checkSelector(before, specPath, part<Spec>(old, 'spec').selector)
        return validateSpec(part<Spec>(object, 'spec'), before.length > 0)
      },
    },
    {
      validateUpdate: (object) => {
        const errors: FieldError[] = []
        const status = part<Status>(object, 'status')
        validateConditions(status.conditions ?? [], statusPath.child('conditions'), errors)
        for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
          checkNonNegative(errors, statusPath.child(field), status[field])
        }
        return errors
      },
    },
  ),
})

function validateSpec(spec: Spec, allowInvalidLabelValue: boolean): FieldError[] {
  const errors: FieldError[] = []
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: evictionPolicy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = structValue({
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: evictionPolicy ?? null,
    })
    errors.push(invalid(specPath, shown, 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    if (spec[field] === undefined) continue
    checkIntOrPercent(errors, specPath.child(field), spec[field])
    checkAtMostAll(errors, specPath.child(field), spec[field])
  }
  checkSelector(errors, specPath.child('selector'), selector, allowInvalidLabelValue)
  if (evictionPolicy !== undefined && !evictionPolicies.includes(evictionPolicy)) {
    errors.push(unsupported(specPath.child('unhealthyPodEvictionPolicy'), evictionPolicy, evictionPolicies))
  }
  return errors
}
