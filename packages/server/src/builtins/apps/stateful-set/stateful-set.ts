import { nameIsDNSLabel } from '@kubewright/base'
import type { StatefulSet } from '@kubewright/k8s'
import type * as apps from '@kubewright/k8s/apps/v1'
import { type FieldError, FieldPath, forbidden } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { containerColumns, readyText } from '../../../table/workload-columns.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { templateWarnings } from '../../core/pod/template/pod-template-warnings.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import {
  checkCollisionCount,
  checkReplicaCounts,
  templateUpdateWarnings,
  withReplicas,
  workloadStrategy,
} from '../workload/workload-strategy.ts'
import { claimTemplateWarnings, defaultClaimTemplates } from './claim-templates.ts'
import { validateStatefulSetSpec } from './validate-stateful-set-spec.ts'

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
export const statefulSets: BuiltinDefinition = defineBuiltin({
  group: 'apps',
  resource: 'statefulsets',
  table: defineTable<StatefulSet>([
    nameColumn,
    textColumn('Ready', 'Ready pods out of the desired pods.', readyText),
    ageColumn,
    containerColumns(({ spec }) => spec?.template),
  ]),
  bookmark: withReplicas,
  ...withStatus(
    withoutDisabledFields({
      ...workloadStrategy,
      validateName: nameIsDNSLabel,
      setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
      prepareForCreate: (object) => dropMaxUnavailable(object, undefined),
      prepareForUpdate: dropMaxUnavailable,
      generation: true,
      validate: (object) =>
        validateStatefulSetSpec(part<Spec>(object, 'spec'), specPath, { create: true, checkTemplate: true }),
      validateUpdate,
      warningsOnCreate: (object) => [
        ...templateWarnings(object),
        ...claimTemplateWarnings(part<Spec>(object, 'spec').volumeClaimTemplates, (path) => path),
        ...historyWarnings(object),
      ],
      warningsOnUpdate: (object, old) => [
        ...templateUpdateWarnings(object, old),
        // As in pkg/registry/apps/statefulset: warnings of an update have `Spec` in their path.
        ...claimTemplateWarnings(part<Spec>(object, 'spec').volumeClaimTemplates, (path) => path.child('Spec')),
        ...historyWarnings(object),
      ],
    }),
    { validateUpdate: validateStatusUpdate },
  ),
})

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

/** Drops a field whose feature gate is off by default. An object that already has the field keeps it. */
function dropMaxUnavailable(object: MutableObject, old: MutableObject | undefined): void {
  if (old && part<Spec>(old, 'spec').updateStrategy?.rollingUpdate?.maxUnavailable !== undefined) return
  const rolling = part<Spec>(object, 'spec').updateStrategy?.rollingUpdate
  if (rolling) delete rolling.maxUnavailable
}

function validateUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
  // A pod template that was already invalid may stay invalid.
  const wasValid = validateStatefulSetSpec(before, FieldPath.none, { create: false, checkTemplate: true }).length === 0
  const errors = validateStatefulSetSpec(spec, specPath, { create: false, checkTemplate: wasValid })
  if (!semanticEqual(immutablePart(spec), immutablePart(before))) errors.push(forbidden(specPath, immutableSpec))
  return errors
}

function immutablePart(spec: Spec): object {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !mutableFields.includes(field)))
}

function historyWarnings(object: MutableObject): string[] {
  if ((part<Spec>(object, 'spec').revisionHistoryLimit ?? 0) >= 0) return []
  const text = 'a negative value retains all historical revisions; a value >= 0 is recommended'
  return [`spec.revisionHistoryLimit: ${text}`]
}

function validateStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  checkReplicaCounts(errors, status, {
    counts: [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    subsets: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    readyName: 'status.readyReplicas',
  })
  checkCollisionCount(errors, status, part<Status>(old, 'status'))
  return errors
}
