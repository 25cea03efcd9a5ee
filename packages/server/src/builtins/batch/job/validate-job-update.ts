import { deepCopy } from '@kubewright/base'
import { type FieldError, invalid } from '@kubewright/schema'
import { goValueOf } from '../../../codec/json/go-value.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import {
  checkImmutable,
  checkImmutableNamed,
  selectorValue,
  specPath,
  structValue,
} from '../../checks/strategy-checks.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { type JobSpec, successPolicyValue } from './validate-job-spec.ts'

/** Checks that an update keeps immutable fields. If the Job is suspended and `notStarted`, scheduling fields may change. */
export function validateJobSpecUpdate(spec: JobSpec, old: JobSpec, notStarted: boolean, errors: FieldError[]): void {
  validateCompletions(spec, old, errors)
  checkImmutable(errors, specPath.child('selector'), spec.selector, old.selector, selectorValue(spec.selector))
  validateTemplateUpdate(spec, old, notStarted, errors)
  checkImmutableNamed(errors, specPath.child('completionMode'), spec.completionMode, old.completionMode)
  const policy = failurePolicyValue(spec.podFailurePolicy)
  checkImmutable(errors, specPath.child('podFailurePolicy'), spec.podFailurePolicy, old.podFailurePolicy, policy)
  const [limit, limitPath] = [spec.backoffLimitPerIndex, specPath.child('backoffLimitPerIndex')]
  checkImmutable(errors, limitPath, limit, old.backoffLimitPerIndex)
  checkImmutableNamed(errors, specPath.child('managedBy'), spec.managedBy, old.managedBy)
  const success = successPolicyValue(spec.successPolicy)
  checkImmutable(errors, specPath.child('successPolicy'), spec.successPolicy, old.successPolicy, success)
}

/** Checks that only indexed Jobs change their completions, together with their parallelism. */
function validateCompletions(spec: JobSpec, old: JobSpec, errors: FieldError[]): void {
  const path = specPath.child('completions')
  if (spec.completionMode !== 'Indexed') {
    checkImmutable(errors, path, spec.completions, old.completions)
    return
  }
  if (spec.completions === old.completions || spec.completions === undefined) return
  if (spec.completions !== spec.parallelism) {
    errors.push(
      invalid(path, spec.completions, `can only be modified in tandem with ${path.root().child('parallelism')}`),
    )
  }
}

function validateTemplateUpdate(spec: JobSpec, old: JobSpec, notStarted: boolean, errors: FieldError[]): void {
  const template = (spec.template ?? {}) as PodTemplate
  let before = (old.template ?? {}) as PodTemplate
  if (old.suspend && notStarted) before = withSchedulingOf(before, template)
  if (semanticEqual(template, before)) return
  const shown = structValue(goValueOf('PodTemplateSpec', template))
  errors.push(invalid(specPath.child('template'), shown, 'field is immutable'))
}

/** The old template with the scheduling fields of the new one, which may change in a suspended Job. */
function withSchedulingOf(old: PodTemplate, template: PodTemplate): PodTemplate {
  const result = deepCopy(old)
  const spec = (result.spec ??= {})
  const wanted = template.spec ?? {}
  const { nodeAffinity: _, ...others } = spec.affinity ?? {}
  const affinity = {
    ...others,
    ...(wanted.affinity?.nodeAffinity ? { nodeAffinity: wanted.affinity.nodeAffinity } : {}),
  }
  if (wanted.affinity || Object.keys(affinity).length > 0) spec.affinity = affinity
  else delete spec.affinity
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) take(spec, wanted, field)
  const metadata = (result.metadata ??= {})
  for (const field of ['annotations', 'labels'] as const) take(metadata, template.metadata ?? {}, field)
  return result
}

function take<T extends object>(target: T, source: T, field: keyof T): void {
  if (source[field] === undefined) delete target[field]
  else target[field] = source[field]
}

function failurePolicyValue(policy: JobSpec['podFailurePolicy']): unknown {
  if (!policy) return null
  const rules = policy.rules?.map(({ action, onExitCodes, onPodConditions }) => ({
    Action: action ?? '',
    OnExitCodes: onExitCodes
      ? {
          ContainerName: onExitCodes.containerName ?? null,
          Operator: onExitCodes.operator ?? '',
          Values: onExitCodes.values ?? null,
        }
      : null,
    OnPodConditions: onPodConditions?.map(({ type, status }) => ({ Type: type ?? '', Status: status ?? '' })) ?? null,
  }))
  return structValue({ Rules: rules ?? null })
}
