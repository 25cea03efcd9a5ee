import { deepEqual, isDNS1123Label, nameIsDNSLabel } from '@kubewright/base'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, FieldPath, forbidden, invalid, notSupported, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { addInvalid, checkNonNegative } from '../../checks/field-checks.ts'
import { part, selectorValue, specPath, statusPath, structValue, trySelector } from '../../checks/strategy-checks.ts'
import { validateClaimSpec } from '../../core/persistent-volume-claim/validate-claim-spec.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import type { PodTemplate, Volume } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import {
  checkAlwaysRestarts,
  checkNotDecremented,
  checkNotMore,
  checkSelected,
  checkWorkloadSelector,
} from '../workload/pod-workload.ts'
import { checkAtMostAll, checkIntOrPercent, numberOf } from '../workload/rolling-update.ts'
import { claimTemplateWarnings, defaultClaimTemplates } from './claim-templates.ts'

type Spec = Unchecked<apps.StatefulSetSpec>
type Status = Unchecked<apps.StatefulSetStatus>

const mutableFields = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
]
const immutableSpec =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

/** StatefulSets (pkg/registry/apps/statefulset, pkg/apis/apps). */
export const statefulSets: BuiltinResource = withStatus(
  {
    validateName: nameIsDNSLabel,
    metadataOnUpdate: ['update'],
    defaultPropagation: 'Background',
    setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
    prepareForCreate: (object) => dropMaxUnavailable(object, undefined),
    prepareForUpdate: dropMaxUnavailable,
    generation: true,
    validate: (object) => validateSpec(part<Spec>(object, 'spec'), specPath, { create: true, checkTemplate: true }),
    validateUpdate: (object, old) => {
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      const errors: FieldError[] = []
      // A template that was invalid before may stay so.
      const valid = validateSpec(before, FieldPath.none, { create: false, checkTemplate: true }).length === 0
      errors.push(...validateSpec(spec, specPath, { create: false, checkTemplate: valid }))
      if (!deepEqual(fixedPart(spec), fixedPart(before))) errors.push(forbidden(specPath, immutableSpec))
      return errors
    },
    warningsOnCreate: (object) => [
      ...templateWarnings(object),
      ...claimTemplateWarnings(part<Spec>(object, 'spec').volumeClaimTemplates, (path) => path),
      ...historyWarnings(object),
    ],
    warningsOnUpdate: (object, old) => [
      ...(object.metadata.generation === old.metadata.generation ? [] : templateWarnings(object)),
      // The path of an update has a step of its own in Kubernetes.
      ...claimTemplateWarnings(part<Spec>(object, 'spec').volumeClaimTemplates, (path) => path.child('Spec')),
      ...historyWarnings(object),
    ],
  },
  { validateUpdate: validateStatusUpdate },
)

function setDefaults(spec: Spec): void {
  spec.podManagementPolicy ||= 'OrderedReady'
  const strategy = (spec.updateStrategy ??= {})
  if (!strategy.type) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {})
  retention.whenDeleted ||= 'Retain'
  retention.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  defaultPodTemplate((spec.template ??= {}) as PodTemplate)
  defaultClaimTemplates(spec.volumeClaimTemplates ?? [])
}

/** The field belongs to a feature that is off; objects that have it keep it. */
function dropMaxUnavailable(object: MutableObject, old: MutableObject | undefined): void {
  if (old && part<Spec>(old, 'spec').updateStrategy?.rollingUpdate?.maxUnavailable !== undefined) return
  const rolling = part<Spec>(object, 'spec').updateStrategy?.rollingUpdate
  if (rolling) delete rolling.maxUnavailable
}

function fixedPart(spec: Spec): object {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !mutableFields.includes(field)))
}

function historyWarnings(object: MutableObject): string[] {
  if ((part<Spec>(object, 'spec').revisionHistoryLimit ?? 0) >= 0) return []
  const text = 'a negative value retains all historical revisions; a value >= 0 is recommended'
  return [`spec.revisionHistoryLimit: ${text}`]
}

interface SpecOptions {
  /** Checks what cannot change and may be older than the checks. */
  readonly create: boolean
  readonly checkTemplate: boolean
}

function validateSpec(spec: Spec, path: FieldPath, { create, checkTemplate }: SpecOptions): FieldError[] {
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
    errors.push(notSupported(at, retention[field] ?? '', ['Retain', 'Delete']))
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
  if (checkTemplate) errors.push(...found)
  // Kubernetes goes through labels and annotations once more.
  const again = [`${at.child('labels')}`, `${at.child('annotations')}`]
  errors.push(
    ...found.filter(({ field }) => again.some((prefix) => field === prefix || field.startsWith(`${prefix}[`))),
  )
}

/** The template with the volumes that the claims will become, and without the names that each pod gets for itself. */
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

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  for (const field of [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  for (const field of ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const) {
    const text = 'cannot be greater than status.replicas'
    checkNotMore(errors, statusPath.child(field), status[field], status.replicas, text)
  }
  const { availableReplicas, readyReplicas } = status
  const availablePath = statusPath.child('availableReplicas')
  checkNotMore(errors, availablePath, availableReplicas, readyReplicas, 'cannot be greater than status.readyReplicas')
  const before = part<Status>(old, 'status').collisionCount
  checkNotDecremented(errors, statusPath.child('collisionCount'), status.collisionCount, before)
  return errors
}
