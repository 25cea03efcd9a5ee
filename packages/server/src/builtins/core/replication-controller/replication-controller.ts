import { append, nameIsDNSSubdomain } from '@kubewright/base'
import type { ReplicationController } from '@kubewright/k8s'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, nameColumn, wideColumn } from '../../../table/columns.ts'
import { labelsText } from '../../../table/human.ts'
import { containerColumns, replicaColumns } from '../../../table/workload-columns.ts'
import { checkAlwaysRestarts, podNameWarnings } from '../../apps/workload/pod-workload.ts'
import { checkReplicaCounts } from '../../apps/workload/workload-strategy.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { defaultPodTemplate } from '../pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../pod/pod-types.ts'
import { templateWarnings } from '../pod/template/pod-template-warnings.ts'
import { validatePodTemplateSpec } from '../pod/template/validate-pod-template.ts'

interface Spec {
  replicas?: number | undefined
  minReadySeconds?: number | undefined
  selector?: Record<string, string> | undefined
  template?: PodTemplate | undefined
}
type Status = Unchecked<core.ReplicationControllerStatus>

const templatePath = specPath.child('template')

/** ReplicationControllers (pkg/registry/core/replicationcontroller). */
export const replicationControllers: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'replicationcontrollers',
  table: defineTable<ReplicationController>([
    nameColumn,
    ...replicaColumns,
    ageColumn,
    containerColumns(({ spec }) => spec?.template),
    wideColumn('Selector', 'Labels of the pods.', ({ spec }) => labelsText(spec?.selector)),
  ]),
  storagePath: 'controllers/',
  ...withStatus(
    withoutDisabledFields({
      validateName: nameIsDNSSubdomain,
      generation: true,
      defaultPropagation: 'Orphan',
      setDefaults,
      validate: (controller) => validateSpec(part<Spec>(controller, 'spec')),
      metadataOnUpdate: ['update'],
      validateUpdate: (controller) => validateSpec(part<Spec>(controller, 'spec')),
      warningsOnCreate: (controller) => [...podNameWarnings(controller), ...templateWarnings(controller)],
      // As in kube-apiserver: the warnings of an update are about the old template.
      warningsOnUpdate: (controller, old) =>
        controller.metadata.generation === old.metadata.generation ? [] : templateWarnings(old),
    }),
    // The spec is restored after the defaults were set. kube-apiserver sets them again when it reads the stored object.
    {
      prepareForUpdate: (controller) => defaultLabels(controller, part<Spec>(controller, 'spec')),
      validateUpdate: validateStatus,
    },
  ),
  selectableFields: {
    'status.replicas': (controller) => String(part<Status>(controller, 'status').replicas ?? 0),
  },
  unknownField: (label) => `field label not supported: ${label}`,
})

/** The labels of the template are the default of the selector and of the controller's own labels. */
function setDefaults(controller: MutableObject): void {
  const spec = (controller['spec'] ??= {}) as Spec
  defaultLabels(controller, spec)
  spec.replicas ??= 1
  if (spec.template) defaultPodTemplate(spec.template)
}

function defaultLabels(controller: MutableObject, spec: Spec): void {
  const labels = spec.template?.metadata?.labels
  if (!labels) return
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  if (Object.keys(controller.metadata.labels ?? {}).length === 0) controller.metadata.labels = { ...labels }
}

function validateSpec({ replicas, minReadySeconds, selector = {}, template }: Spec): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, specPath.child('minReadySeconds'), minReadySeconds)
  if (Object.keys(selector).length === 0) errors.push(required(specPath.child('selector')))
  if (replicas === undefined) errors.push(required(specPath.child('replicas')))
  else checkNonNegative(errors, specPath.child('replicas'), replicas)
  if (!template) {
    errors.push(required(templatePath))
    return errors
  }
  const labels = template.metadata?.labels
  if (Object.entries(selector).some(([key, value]) => labels?.[key] !== value)) {
    const at = templatePath.child('metadata', 'labels')
    errors.push(invalid(at, labels ?? null, '`selector` does not match template `labels`'))
  }
  append(errors, validatePodTemplateSpec(template, templatePath))
  checkAlwaysRestarts(errors, templatePath.child('spec'), template, 'ReplicationController')
  return errors
}

function validateStatus(controller: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkReplicaCounts(errors, part<Status>(controller, 'status'), {
    counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
    subsets: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  })
  return errors
}
