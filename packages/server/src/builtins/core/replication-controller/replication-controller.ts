import { isDNS1123Label, nameIsDNSSubdomain } from '@kubewright/base'
import type { ReplicationController } from '@kubewright/k8s'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, FieldPath, forbidden, invalid, notSupported, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, nameColumn, wideColumn } from '../../../table/columns.ts'
import { labelsText } from '../../../table/human.ts'
import { containerColumns, replicaColumns } from '../../../table/workload-columns.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { defaultPodTemplate } from '../pod/defaults/default-pod-spec.ts'
import type { PodTemplate } from '../pod/pod-types.ts'
import { validatePodTemplateSpec } from '../pod/template/validate-pod-template.ts'
import { podTemplateWarnings } from '../pod/warnings/pod-warnings.ts'

interface Spec {
  replicas?: number
  minReadySeconds?: number
  selector?: Record<string, string>
  template?: PodTemplate
}
type Status = Unchecked<core.ReplicationControllerStatus>

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('template')
const statusPath = FieldPath.of('status')

function specOf(controller: MutableObject): Spec {
  return (controller['spec'] ?? {}) as Spec
}

/** Labels of the template stand in for a selector and for the labels of the controller. */
function setDefaults(controller: MutableObject): void {
  const spec = (controller['spec'] ??= {}) as Spec
  const labels = spec.template?.metadata?.labels
  if (labels) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
    if (Object.keys(controller.metadata.labels ?? {}).length === 0) controller.metadata.labels = { ...labels }
  }
  spec.replicas ??= 1
  if (spec.template) defaultPodTemplate(spec.template)
}

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  const { selector = {}, template } = spec
  checkNonNegative(errors, specPath.child('minReadySeconds'), spec.minReadySeconds)
  if (Object.keys(selector).length === 0) errors.push(required(specPath.child('selector')))
  if (spec.replicas === undefined) errors.push(required(specPath.child('replicas')))
  else checkNonNegative(errors, specPath.child('replicas'), spec.replicas)
  if (!template) {
    errors.push(required(templatePath))
    return errors
  }
  const labels = template.metadata?.labels
  if (Object.entries(selector).some(([key, value]) => labels?.[key] !== value)) {
    const at = templatePath.child('metadata', 'labels')
    errors.push(invalid(at, labels ?? null, '`selector` does not match template `labels`'))
  }
  errors.push(...validatePodTemplateSpec(template, templatePath))
  if (template.spec?.restartPolicy !== 'Always') {
    const at = templatePath.child('spec', 'restartPolicy')
    errors.push(notSupported(at, template.spec?.restartPolicy ?? '', ['Always']))
  }
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    const text = 'activeDeadlineSeconds in ReplicationController is not Supported'
    errors.push(forbidden(templatePath.child('spec', 'activeDeadlineSeconds'), text))
  }
  return errors
}

function validateStatus(controller: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = (controller['status'] ?? {}) as Status
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  for (const field of [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
  ] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  for (const field of ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    const count = status[field] ?? 0
    if (count > replicas) errors.push(invalid(statusPath.child(field), count, 'cannot be greater than status.replicas'))
  }
  if (availableReplicas > readyReplicas) {
    const text = 'cannot be greater than readyReplicas'
    errors.push(invalid(statusPath.child('availableReplicas'), availableReplicas, text))
  }
  return errors
}

function templateWarnings(controller: MutableObject): string[] {
  return podTemplateWarnings(specOf(controller).template ?? {}, templatePath)
}

function warningsOnCreate(controller: MutableObject): string[] {
  const problems = isDNS1123Label(controller.metadata.name ?? '')
  const text =
    'this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended'
  const named = problems.length > 0 ? [`metadata.name: ${text}: [${problems.join(' ')}]`] : []
  return [...named, ...templateWarnings(controller)]
}

/** ReplicationControllers; status and scale are served by the rules that most kinds share. */
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
    {
      validateName: nameIsDNSSubdomain,
      generation: true,
      defaultPropagation: 'Orphan',
      setDefaults,
      validate: (controller) => validateSpec(specOf(controller)),
      metadataOnUpdate: ['update'],
      validateUpdate: (controller) => validateSpec(specOf(controller)),
      warningsOnCreate,
      warningsOnUpdate: (controller, old) =>
        controller.metadata.generation === old.metadata.generation ? [] : templateWarnings(old),
    },
    { validateUpdate: validateStatus },
  ),
  selectableFields: {
    'status.replicas': (controller) => String((controller['status'] as Status | undefined)?.replicas ?? 0),
  },
  unknownField: (label) => `field label not supported: ${label}`,
})
