import { deepEqual, nameIsDNSSubdomain } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, type FieldPath, forbidden, invalid, notSupported, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { checkImmutable, part, selectorValue, specPath, statusPath, structValue } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import {
  checkNotDecremented,
  checkNotMore,
  checkReplicatedTemplate,
  checkWorkloadSelector,
  podNameWarnings,
} from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf } from '../workload/rolling-update.ts'

type Spec = Unchecked<apps.DeploymentSpec>
type Status = Unchecked<apps.DeploymentStatus>

/** Deployments (pkg/registry/apps/deployment, pkg/apis/apps). */
export const deployments: BuiltinResource = withStatus(
  {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['update'],
    defaultPropagation: 'Background',
    setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
    generation: (object, old) =>
      !deepEqual(object['spec'], old['spec']) ||
      !deepEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
    validate: (object) => validateSpec(part<Spec>(object, 'spec'), specPath),
    validateUpdate: (object, old) => {
      const spec = part<Spec>(object, 'spec')
      const errors = validateSpec(spec, specPath)
      const before = part<Spec>(old, 'spec').selector
      checkImmutable(errors, specPath.child('selector'), spec.selector, before, selectorValue(spec.selector))
      return errors
    },
    warningsOnCreate: (object) => [...podNameWarnings(object), ...templateWarnings(object)],
    warningsOnUpdate: (object, old) =>
      object.metadata.generation === old.metadata.generation ? [] : templateWarnings(object),
  },
  { keeps: ['spec', 'metadata.labels'], validateUpdate: validateStatusUpdate },
)

function setDefaults(spec: Spec): void {
  spec.replicas ??= 1
  const strategy = (spec.strategy ??= {})
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    const rolling = (strategy.rollingUpdate ??= {})
    rolling.maxUnavailable ??= '25%'
    rolling.maxSurge ??= '25%'
  }
  spec.revisionHistoryLimit ??= 10
  spec.progressDeadlineSeconds ??= 600
  defaultPodTemplate((spec.template ??= {}) as PodTemplate)
}

function validateSpec(spec: Spec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, path.child('replicas'), spec.replicas)
  checkWorkloadSelector(errors, path.child('selector'), spec.selector, 'deployment')
  checkReplicatedTemplate(errors, path, spec.selector, (spec.template ?? {}) as PodTemplate)
  validateStrategy(spec.strategy ?? {}, path.child('strategy'), errors)
  checkNonNegative(errors, path.child('minReadySeconds'), spec.minReadySeconds)
  checkNonNegative(errors, path.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
  const deadline = spec.progressDeadlineSeconds
  if (deadline !== undefined) {
    checkNonNegative(errors, path.child('progressDeadlineSeconds'), deadline)
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid(path.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

function validateStrategy(
  { type, rollingUpdate }: NonNullable<Spec['strategy']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('rollingUpdate')
  if (type === 'Recreate') {
    if (rollingUpdate) errors.push(forbidden(at, "may not be specified when strategy `type` is 'Recreate'"))
  } else if (type === 'RollingUpdate') {
    if (!rollingUpdate) {
      errors.push(required(at, 'this should be defaulted and never be nil'))
      return
    }
    const { maxUnavailable, maxSurge } = rollingUpdate
    const unavailablePath = at.child('maxUnavailable')
    checkIntOrPercent(errors, unavailablePath, maxUnavailable)
    checkIntOrPercent(errors, at.child('maxSurge'), maxSurge)
    if (numberOf(maxUnavailable) === 0 && numberOf(maxSurge) === 0) {
      errors.push(invalid(unavailablePath, maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0'))
    }
    checkAtMostAll(errors, unavailablePath, maxUnavailable)
  } else {
    const rolling = rollingUpdate
      ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
      : null
    const shown = structValue({ Type: type ?? '', RollingUpdate: rolling })
    errors.push(notSupported(path, shown, ['Recreate', 'RollingUpdate']))
  }
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  for (const field of [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  for (const field of ['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    const text = 'cannot be greater than status.replicas'
    checkNotMore(errors, statusPath.child(field), status[field], status.replicas, text)
  }
  const { availableReplicas, readyReplicas } = status
  const availablePath = statusPath.child('availableReplicas')
  checkNotMore(errors, availablePath, availableReplicas, readyReplicas, 'cannot be greater than readyReplicas')
  const before = part<Status>(old, 'status').collisionCount
  checkNotDecremented(errors, statusPath.child('collisionCount'), status.collisionCount, before)
  return errors
}
