import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import type { FieldError } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { checkImmutable, part, selectorValue, specPath, statusPath } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import {
  checkNotMore,
  checkReplicatedTemplate,
  checkWorkloadSelector,
  podNameWarnings,
} from '../workload/pod-workload.ts'

type Spec = Unchecked<apps.ReplicaSetSpec>
type Status = Unchecked<apps.ReplicaSetStatus>

/** ReplicaSets (pkg/registry/apps/replicaset, pkg/apis/apps). */
export const replicaSets: BuiltinResource = withStatus(
  {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['update'],
    defaultPropagation: 'Background',
    setDefaults: (object) => {
      const spec = (object['spec'] ??= {}) as Spec
      spec.replicas ??= 1
      defaultPodTemplate((spec.template ??= {}) as PodTemplate)
    },
    generation: true,
    validate: (object) => validateSpec(part<Spec>(object, 'spec')),
    validateUpdate: (object, old) => {
      const spec = part<Spec>(object, 'spec')
      const errors = validateSpec(spec)
      const before = part<Spec>(old, 'spec').selector
      checkImmutable(errors, specPath.child('selector'), spec.selector, before, selectorValue(spec.selector))
      return errors
    },
    warningsOnCreate: (object) => [...podNameWarnings(object), ...templateWarnings(object)],
    warningsOnUpdate: (object, old) =>
      object.metadata.generation === old.metadata.generation ? [] : templateWarnings(object),
  },
  { validateUpdate: validateStatusUpdate },
)

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, specPath.child('replicas'), spec.replicas)
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  checkWorkloadSelector(errors, specPath.child('selector'), spec.selector, 'deployment')
  checkReplicatedTemplate(errors, specPath, spec.selector, (spec.template ?? {}) as PodTemplate)
  return errors
}

function validateStatusUpdate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  for (const field of [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  for (const field of ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    const text = 'cannot be greater than status.replicas'
    checkNotMore(errors, statusPath.child(field), status[field], status.replicas, text)
  }
  const { availableReplicas, readyReplicas } = status
  const availablePath = statusPath.child('availableReplicas')
  checkNotMore(errors, availablePath, availableReplicas, readyReplicas, 'cannot be greater than readyReplicas')
  return errors
}
