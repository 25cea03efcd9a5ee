import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkReplicatedTemplate, checkWorkloadSelector } from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf, updateStrategyValue } from '../workload/rolling-update.ts'
import {
  checkCollisionCount,
  checkReplicaCounts,
  replicatedStrategy,
  withReplicas,
} from '../workload/workload-strategy.ts'
import { deploymentTable } from './deployment-table.ts'

type Spec = Unchecked<apps.DeploymentSpec>
type Status = Unchecked<apps.DeploymentStatus>

/** Deployments (pkg/registry/apps/deployment, pkg/apis/apps). */
export const deployments: BuiltinDefinition = defineBuiltin({
  group: 'apps',
  resource: 'deployments',
  table: deploymentTable,
  bookmark: withReplicas,
  ...withStatus(
    withoutDisabledFields({
      ...replicatedStrategy(validateSpec),
      setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
      generation: (object, old) =>
        !semanticEqual(object['spec'], old['spec']) ||
        !semanticEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
    }),
    { keeps: ['spec', 'metadata.labels'], validateUpdate: validateStatusUpdate },
  ),
})

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

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, specPath.child('replicas'), spec.replicas)
  checkWorkloadSelector(errors, specPath.child('selector'), spec.selector, 'deployment')
  checkReplicatedTemplate(errors, specPath, spec.selector, (spec.template ?? {}) as PodTemplate)
  validateStrategy(spec.strategy ?? {}, specPath.child('strategy'), errors)
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  checkNonNegative(errors, specPath.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
  const deadline = spec.progressDeadlineSeconds
  if (deadline !== undefined) {
    const deadlinePath = specPath.child('progressDeadlineSeconds')
    checkNonNegative(errors, deadlinePath, deadline)
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid(deadlinePath, deadline, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

function validateStrategy(strategy: NonNullable<Spec['strategy']>, path: FieldPath, errors: FieldError[]): void {
  const { type, rollingUpdate } = strategy
  const rollingPath = path.child('rollingUpdate')
  if (type === 'Recreate') {
    if (rollingUpdate) errors.push(forbidden(rollingPath, "may not be specified when strategy `type` is 'Recreate'"))
  } else if (type !== 'RollingUpdate') {
    errors.push(unsupported(path, updateStrategyValue(strategy), ['Recreate', 'RollingUpdate']))
  } else if (!rollingUpdate) {
    errors.push(required(rollingPath, 'this should be defaulted and never be nil'))
  } else {
    const { maxUnavailable, maxSurge } = rollingUpdate
    const unavailablePath = rollingPath.child('maxUnavailable')
    checkIntOrPercent(errors, unavailablePath, maxUnavailable)
    checkIntOrPercent(errors, rollingPath.child('maxSurge'), maxSurge)
    if (numberOf(maxUnavailable) === 0 && numberOf(maxSurge) === 0) {
      errors.push(invalid(unavailablePath, maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0'))
    }
    checkAtMostAll(errors, unavailablePath, maxUnavailable)
  }
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  checkReplicaCounts(errors, status, {
    counts: [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ],
    subsets: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  })
  checkCollisionCount(errors, status, part<Status>(old, 'status'))
  return errors
}
