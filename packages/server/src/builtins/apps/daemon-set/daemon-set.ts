import { append } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import {
  checkImmutable,
  checkSelector,
  hasInvalidLabelValue,
  part,
  selectorSize,
  selectorValue,
  specPath,
  statusPath,
} from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkAlwaysRestarts, checkSelected } from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf, updateStrategyValue } from '../workload/rolling-update.ts'
import { checkCollisionCount, workloadStrategy } from '../workload/workload-strategy.ts'
import { daemonSetTable } from './daemon-set-table.ts'
import {
  emptyDaemonSet,
  setTemplateGeneration,
  templateGeneration,
  withoutTemplateGeneration,
} from './template-generation.ts'

type Spec = Unchecked<apps.DaemonSetSpec>
type Status = Unchecked<apps.DaemonSetStatus>

/** DaemonSets (pkg/registry/apps/daemonset, pkg/apis/apps). */
export const daemonSets: BuiltinDefinition = defineBuiltin({
  group: 'apps',
  resource: 'daemonsets',
  table: daemonSetTable,
  bookmark: emptyDaemonSet,
  conversion: { toInternal: withoutTemplateGeneration },
  ...withStatus(
    withoutDisabledFields({
      ...workloadStrategy,
      setDefaults: (object) => {
        setDefaults((object['spec'] ??= {}) as Spec)
        setTemplateGeneration(object, templateGeneration(object))
      },
      prepareForCreate: (object) => setTemplateGeneration(object, Math.max(templateGeneration(object), 1)),
      prepareForUpdate: (object, old) => {
        const before = templateGeneration(old)
        const changed = !semanticEqual(part<Spec>(object, 'spec').template, part<Spec>(old, 'spec').template)
        setTemplateGeneration(object, changed ? before + 1 : before)
      },
      generation: true,
      validate: (object) => validateSpec(part<Spec>(object, 'spec'), false),
      validateUpdate: (object, old) => {
        const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
        const errors: FieldError[] = []
        const shown = selectorValue(spec.selector)
        checkImmutable(errors, specPath.child('selector'), spec.selector, before.selector, shown)
        append(errors, validateSpec(spec, hasInvalidLabelValue(before.selector)))
        return errors
      },
      warningsOnCreate: (object) => templateWarnings(object),
      warningsOnUpdate: (object, old) =>
        templateGeneration(object) === templateGeneration(old) ? [] : templateWarnings(object),
    }),
    {
      prepareForUpdate: (object, old) => setTemplateGeneration(object, templateGeneration(old)),
      validateUpdate: validateStatusUpdate,
    },
  ),
})

function setDefaults(spec: Spec): void {
  const strategy = (spec.updateStrategy ??= {})
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    const rolling = (strategy.rollingUpdate ??= {})
    rolling.maxUnavailable ??= 1
    rolling.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= 10
  defaultPodTemplate((spec.template ??= {}) as PodTemplate)
}

function validateSpec(spec: Spec, allowInvalidLabelValue: boolean): FieldError[] {
  const errors: FieldError[] = []
  const { selector } = spec
  const template = (spec.template ?? {}) as PodTemplate
  const [selectorPath, templatePath] = [specPath.child('selector'), specPath.child('template')]
  checkSelector(errors, selectorPath, selector, allowInvalidLabelValue)
  checkSelected(errors, templatePath, selector, template)
  if (selector && selectorSize(selector) === 0) {
    errors.push(invalid(selectorPath, selectorValue(selector), 'empty selector is invalid for daemonset'))
  }
  append(errors, validatePodTemplateSpec(template, templatePath))
  checkAlwaysRestarts(errors, templatePath.child('spec'), template, 'DaemonSet')
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  validateUpdateStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy'), errors)
  checkNonNegative(errors, specPath.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
  return errors
}

function validateUpdateStrategy(
  strategy: NonNullable<Spec['updateStrategy']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    errors.push(unsupported(path, updateStrategyValue(strategy), ['RollingUpdate', 'OnDelete']))
    return
  }
  const rollingPath = path.child('rollingUpdate')
  if (!rollingUpdate) {
    errors.push(required(rollingPath))
    return
  }
  const { maxUnavailable, maxSurge } = rollingUpdate
  const [unavailablePath, surgePath] = [rollingPath.child('maxUnavailable'), rollingPath.child('maxSurge')]
  checkIntOrPercent(errors, unavailablePath, maxUnavailable)
  checkIntOrPercent(errors, surgePath, maxSurge)
  checkAtMostAll(errors, unavailablePath, maxUnavailable)
  checkAtMostAll(errors, surgePath, maxSurge)
  const [unavailable, surge] = [numberOf(maxUnavailable) !== 0, numberOf(maxSurge) !== 0]
  if (unavailable && surge) errors.push(invalid(surgePath, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  else if (!unavailable && !surge) errors.push(required(unavailablePath, 'cannot be 0 when maxSurge is 0'))
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  for (const field of [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  checkCollisionCount(errors, status, part<Status>(old, 'status'))
  return errors
}
