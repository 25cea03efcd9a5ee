import type { ReplicaSet } from '@kubewright/k8s'
import type * as apps from '@kubewright/k8s/apps/v1'
import type { FieldError } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, nameColumn } from '../../../table/columns.ts'
import { containerColumns, replicaColumns, selectorColumn } from '../../../table/workload-columns.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkReplicatedTemplate, checkWorkloadSelector } from '../workload/pod-workload.ts'
import { checkReplicaCounts, replicatedStrategy, withReplicas } from '../workload/workload-strategy.ts'

type Spec = Unchecked<apps.ReplicaSetSpec>
type Status = Unchecked<apps.ReplicaSetStatus>

/** ReplicaSets (pkg/registry/apps/replicaset, pkg/apis/apps). */
export const replicaSets: BuiltinDefinition = defineBuiltin({
  group: 'apps',
  resource: 'replicasets',
  table: defineTable<ReplicaSet>([
    nameColumn,
    ...replicaColumns,
    ageColumn,
    containerColumns(({ spec }) => spec?.template),
    selectorColumn(({ spec }) => spec?.selector),
  ]),
  bookmark: withReplicas,
  ...withStatus(
    withoutDisabledFields({
      ...replicatedStrategy(validateSpec),
      setDefaults: (object) => {
        const spec = (object['spec'] ??= {}) as Spec
        spec.replicas ??= 1
        defaultPodTemplate((spec.template ??= {}) as PodTemplate)
      },
      generation: true,
    }),
    { validateUpdate: validateStatusUpdate },
  ),
})

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, specPath.child('replicas'), spec.replicas)
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  // As in pkg/apis/apps/validation: the message names deployments.
  checkWorkloadSelector(errors, specPath.child('selector'), spec.selector, 'deployment')
  checkReplicatedTemplate(errors, specPath, spec.selector, (spec.template ?? {}) as PodTemplate)
  return errors
}

function validateStatusUpdate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkReplicaCounts(errors, part<Status>(object, 'status'), {
    counts: [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
      'terminatingReplicas',
    ],
    subsets: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  })
  return errors
}
