import { deepEqual, nameIsDNSSubdomain } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, type FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import {
  checkImmutable,
  checkSelector,
  hasInvalidLabelValue,
  part,
  selectorSize,
  selectorValue,
  specPath,
  statusPath,
  structValue,
} from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkAlwaysRestarts, checkNotDecremented, checkSelected } from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf } from '../workload/rolling-update.ts'

type Spec = Unchecked<apps.DaemonSetSpec>
type Status = Unchecked<apps.DaemonSetStatus>

/** Counts changes of the template. Once a field, it is an annotation that only the server sets. */
const templateGenerationKey = 'deprecated.daemonset.template.generation'

/** DaemonSets (pkg/registry/apps/daemonset, pkg/apis/apps). */
export const daemonSets: BuiltinResource = {
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      metadataOnUpdate: ['update'],
      defaultPropagation: 'Background',
      setDefaults: (object) => {
        setDefaults((object['spec'] ??= {}) as Spec)
        setTemplateGeneration(object, templateGeneration(object))
      },
      prepareForCreate: (object) => setTemplateGeneration(object, Math.max(templateGeneration(object), 1)),
      prepareForUpdate: (object, old) => {
        const before = templateGeneration(old)
        const changed = !deepEqual(part<Spec>(object, 'spec').template, part<Spec>(old, 'spec').template)
        setTemplateGeneration(object, changed ? before + 1 : before)
      },
      generation: true,
      validate: (object) => validateSpec(part<Spec>(object, 'spec'), false),
      validateUpdate: (object, old) => {
        const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
        const errors: FieldError[] = []
        const shown = selectorValue(spec.selector)
        checkImmutable(errors, specPath.child('selector'), spec.selector, before.selector, shown)
        errors.push(...validateSpec(spec, hasInvalidLabelValue(before.selector)))
        return errors
      },
      warningsOnCreate: (object) => templateWarnings(object),
      warningsOnUpdate: (object, old) =>
        templateGeneration(object) === templateGeneration(old) ? [] : templateWarnings(object),
    },
    { validateUpdate: validateStatusUpdate },
  ),
  inner: withoutTemplateGeneration,
}

function templateGeneration({ metadata }: MutableObject): number {
  return Number(metadata.annotations?.[templateGenerationKey] ?? 0) || 0
}

/** Inside the server it is still a field. */
function withoutTemplateGeneration(object: MutableObject): MutableObject {
  const { annotations, ...metadata } = object.metadata
  const { [templateGenerationKey]: _, ...others } = annotations ?? {}
  return { ...object, metadata: { ...metadata, ...(Object.keys(others).length > 0 ? { annotations: others } : {}) } }
}

function setTemplateGeneration({ metadata }: MutableObject, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGenerationKey]: String(generation) }
}

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
  errors.push(...validatePodTemplateSpec(template, templatePath))
  checkAlwaysRestarts(errors, templatePath.child('spec'), template, 'DaemonSet')
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  validateUpdateStrategy(spec.updateStrategy ?? {}, specPath.child('updateStrategy'), errors)
  checkNonNegative(errors, specPath.child('revisionHistoryLimit'), spec.revisionHistoryLimit)
  return errors
}

function validateUpdateStrategy(
  { type, rollingUpdate }: NonNullable<Spec['updateStrategy']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('rollingUpdate')
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    const rolling = rollingUpdate
      ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
      : null
    const shown = structValue({ Type: type ?? '', RollingUpdate: rolling })
    errors.push(notSupported(path, shown, ['RollingUpdate', 'OnDelete']))
    return
  }
  if (!rollingUpdate) {
    errors.push(required(at))
    return
  }
  const { maxUnavailable, maxSurge } = rollingUpdate
  const [unavailablePath, surgePath] = [at.child('maxUnavailable'), at.child('maxSurge')]
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
  const before = part<Status>(old, 'status').collisionCount
  checkNotDecremented(errors, statusPath.child('collisionCount'), status.collisionCount, before)
  return errors
}
