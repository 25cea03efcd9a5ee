import { append, isDNS1123Label } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { addInvalid, checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import { selectorValue, structValue, trySelector } from '../../checks/strategy-checks.ts'
import { validateClaimSpec } from '../../core/persistent-volume-claim/validate-claim-spec.ts'
import type { PodTemplate, Volume } from '../../core/pod/pod-types.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkAlwaysRestarts, checkSelected, checkWorkloadSelector } from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf } from '../workload/rolling-update.ts'

type Spec = Unchecked<apps.StatefulSetSpec>

/** Which parts {@link validateStatefulSetSpec} checks. */
interface SpecOptions {
  /** Whether to check immutable fields too. An update skips them: a stored object may be older than the check. */
  readonly create: boolean
  /** Whether to check the pod template. */
  readonly checkTemplate: boolean
}

/** Checks the spec of a StatefulSet (pkg/apis/apps/validation). */
export function validateStatefulSetSpec(
  spec: Spec,
  path: FieldPath,
  { create, checkTemplate }: SpecOptions,
): FieldError[] {
  const errors: FieldError[] = []
  const policyPath = path.child('podManagementPolicy')
  if (!spec.podManagementPolicy) errors.push(required(policyPath))
  else if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy)) {
    errors.push(invalid(policyPath, spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"))
  }
  validateUpdateStrategy(spec.updateStrategy ?? {}, path.child('updateStrategy'), errors)
  const retention = spec.persistentVolumeClaimRetentionPolicy
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    if (!retention || retention[field] === 'Retain' || retention[field] === 'Delete') continue
    const at = path.child('persistentVolumeClaimRetentionPolicy', field)
    errors.push(unsupported(at, retention[field] ?? '', ['Retain', 'Delete']))
  }
  const claims = spec.volumeClaimTemplates ?? []
  if (create) {
    for (const [i, claim] of claims.entries()) {
      validateClaimSpec(claim.spec ?? {}, path.child('volumeClaimTemplates').index(i).child('spec'), errors)
    }
  }
  checkNonNegative(errors, path.child('replicas'), spec.replicas)
  checkNonNegative(errors, path.child('minReadySeconds'), spec.minReadySeconds)
  checkNonNegative(errors, path.child('ordinals.start'), spec.ordinals?.start)
  if (create && spec.serviceName) {
    addInvalid(errors, path.child('serviceName'), spec.serviceName, isDNS1123Label(spec.serviceName))
  }
  checkWorkloadSelector(errors, path.child('selector'), spec.selector, 'statefulset')
  validateTemplate(spec, path, checkTemplate, errors)
  checkAlwaysRestarts(errors, path.child('template', 'spec'), (spec.template ?? {}) as PodTemplate, 'StatefulSet')
  return errors
}

function validateUpdateStrategy(
  { type, rollingUpdate }: NonNullable<Spec['updateStrategy']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const rolling = rollingUpdate && {
    Partition: rollingUpdate.partition ?? 0,
    MaxUnavailable: rollingUpdate.maxUnavailable ?? null,
  }
  if (!type) errors.push(required(path))
  else if (type === 'OnDelete') {
    if (!rolling) return
    const text = "only allowed for updateStrategy 'RollingUpdate'"
    errors.push(invalid(path.child('rollingUpdate'), structValue(rolling), text))
  } else if (type !== 'RollingUpdate') {
    const shown = structValue({ Type: type, RollingUpdate: rolling ?? null })
    errors.push(invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'"))
  } else if (rollingUpdate) {
    const at = path.child('rollingUpdate')
    checkNonNegative(errors, at.child('partition'), rollingUpdate.partition)
    const { maxUnavailable } = rollingUpdate
    if (maxUnavailable === undefined) return
    checkIntOrPercent(errors, at.child('maxUnavailable'), maxUnavailable)
    if (numberOf(maxUnavailable) === 0) errors.push(invalid(at.child('maxUnavailable'), maxUnavailable, 'cannot be 0'))
    checkAtMostAll(errors, at.child('maxUnavailable'), maxUnavailable)
  }
}

function validateTemplate(spec: Spec, path: FieldPath, checkTemplate: boolean, errors: FieldError[]): void {
  const selects = trySelector(spec.selector)
  if (!selects) {
    errors.push(invalid(path.child('selector'), selectorValue(spec.selector), ''))
    return
  }
  const template = withClaims(spec)
  const at = path.child('template')
  if (!selects.isEverything) checkSelected(errors, at, spec.selector, template)
  const found = validatePodTemplateSpec(template, at)
  if (checkTemplate) append(errors, found)
  // As in pkg/apis/apps/validation: labels and annotations are checked, and reported, a second time.
  const again = [`${at.child('labels')}`, `${at.child('annotations')}`]
  append(
    errors,
    found.filter(({ field }) => again.some((prefix) => field === prefix || field.startsWith(`${prefix}[`))),
  )
}

/**
 * The template as its pods get it: with a volume for each claim template, and without the host names, which the controller sets for each
 * pod.
 */
function withClaims(spec: Spec): PodTemplate {
  const template = (spec.template ?? {}) as PodTemplate
  const { hostname: _, subdomain: __, ...rest } = template.spec ?? {}
  const claimed = new Map<string, Volume>()
  for (const { metadata } of spec.volumeClaimTemplates ?? []) {
    const name = metadata?.name ?? ''
    claimed.set(name, { name, persistentVolumeClaim: { claimName: name } })
  }
  const volumes = [...claimed.values(), ...(rest.volumes ?? []).filter(({ name }) => !claimed.has(name ?? ''))]
  return { ...template, spec: volumes.length > 0 ? { ...rest, volumes } : rest }
}
