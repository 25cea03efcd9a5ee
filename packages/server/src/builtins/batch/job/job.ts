import { goQuote, isDNS1123Label, nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { checkSelected, podNameWarnings } from '../../apps/workload/pod-workload.ts'
import {
  checkSelector,
  hasInvalidLabelValue,
  metadataPath,
  part,
  selectorValue,
  sortedMap,
  specPath,
  trySelector,
} from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { jobTable } from './job-table.ts'
import { defaultFailurePolicy } from './pod-failure-policy.ts'
import { type JobSpec, jobSpecWarnings, validateAnyJobSpec } from './validate-job-spec.ts'
import { type JobStatus, validateJobStatusUpdate } from './validate-job-status.ts'
import { validateJobSpecUpdate } from './validate-job-update.ts'

const nameLabels = ['job-name', 'batch.kubernetes.io/job-name']
const uidLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid']
const maxInt32 = 2_147_483_647

/** Jobs (pkg/registry/batch/job, pkg/apis/batch). */
export const jobs: BuiltinDefinition = defineBuiltin({
  group: 'batch',
  resource: 'jobs',
  table: jobTable,
  ...withStatus(
    withoutDisabledFields({
      validateName: nameIsDNSSubdomain,
      metadataOnUpdate: ['create', 'update'],
      defaultPropagation: 'Orphan',
      deleteWarning:
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them ' +
        'or set propagationPolicy=Orphan to suppress this warning',
      setDefaults,
      prepareForCreate: generateSelector,
      generation: true,
      // The labels of the template are copied when the object is read.
      storesFirstUpdate: ({ metadata, spec }) =>
        semanticEqual(metadata.labels, (spec as JobSpec).template?.metadata?.labels),
      validate: (object) => validateJob(object, { prefixedLabels: true, allowInvalidLabelValue: false }),
      validateUpdate: (object, old) => {
        const before = part<JobSpec>(old, 'spec')
        const labels = before.template?.metadata?.labels ?? {}
        const options = {
          // Jobs that older versions created have only labels without a domain.
          prefixedLabels: labels[nameLabels[1]!] !== undefined && labels[uidLabels[1]!] !== undefined,
          allowInvalidLabelValue: hasInvalidLabelValue(before.selector),
        }
        const errors = validateJob(object, options)
        validateSpec(part<JobSpec>(object, 'spec'), options.allowInvalidLabelValue, errors)
        const started = part<JobStatus>(old, 'status').startTime !== undefined
        validateJobSpecUpdate(part<JobSpec>(object, 'spec'), before, !started, errors)
        return errors
      },
      warningsOnCreate: (object) => [
        ...podNameWarnings(object),
        ...jobSpecWarnings(part<JobSpec>(object, 'spec'), specPath),
      ],
      warningsOnUpdate: (object, old) =>
        object.metadata.generation === old.metadata.generation
          ? []
          : jobSpecWarnings(part<JobSpec>(object, 'spec'), specPath),
    }),
    {
      prepareForUpdate: (object) =>
        takeTemplateLabels(object, (part<JobSpec>(object, 'spec').template ?? {}) as PodTemplate),
      validateUpdate: validateJobStatusUpdate,
    },
  ),
  selectableFields: { 'status.successful': (object) => String(part<JobStatus>(object, 'status').succeeded ?? 0) },
  unknownField: (label) => `field label ${goQuote(label)} not supported for Job`,
})

function setDefaults(object: MutableObject): void {
  const spec = (object['spec'] ??= {}) as JobSpec
  if (spec.parallelism === undefined) spec.completions ??= 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  spec.manualSelector ??= false
  const template = (spec.template ??= {}) as PodTemplate
  defaultPodTemplate(template)
  defaultFailurePolicy(spec.podFailurePolicy)
  takeTemplateLabels(object, template)
}

/** Copies the labels of the pod template to a Job without labels. */
function takeTemplateLabels({ metadata }: MutableObject, { metadata: template }: PodTemplate): void {
  if (template?.labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...template.labels }
}

/** Generates the selector and labels that match the pods of this Job by uid, unless `manualSelector` is set. */
function generateSelector(object: MutableObject): void {
  const spec = part<JobSpec>(object, 'spec')
  const { metadata } = object
  const template = (spec.template ??= {}) as PodTemplate
  const labels: Record<string, string> = ((template.metadata ??= {}).labels ??= {})
  // Labels that were copied from the template are updated with it.
  const taken = Object.keys(labels).length > 0 && semanticEqual(metadata.labels, labels)
  if (!spec.manualSelector) {
    for (const key of nameLabels) labels[key] ??= metadata.name ?? ''
    for (const key of uidLabels) labels[key] ??= metadata.uid ?? ''
    const matchLabels = ((spec.selector ??= {}).matchLabels ??= {}) as Record<string, string>
    matchLabels[uidLabels[1]!] ??= metadata.uid ?? ''
  }
  if (taken) metadata.labels = { ...labels }
  else takeTemplateLabels(object, template)
  if (Object.keys(labels).length === 0) delete template.metadata.labels
}

interface JobOptions {
  readonly prefixedLabels: boolean
  readonly allowInvalidLabelValue: boolean
}

function validateJob(object: MutableObject, options: JobOptions): FieldError[] {
  const spec = part<JobSpec>(object, 'spec')
  const { name = '' } = object.metadata
  const errors: FieldError[] = []
  validateGeneratedSelector(object, spec, options.prefixedLabels, errors)
  validateSpec(spec, options.allowInvalidLabelValue, errors)
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > 0) {
    const hostname = `${name}-${spec.completions! - 1}`
    if (isDNS1123Label(hostname).length > 0) {
      const text = `will not able to create pod with invalid DNS label: ${hostname}`
      errors.push(invalid(metadataPath.child('name'), name, text))
    }
  }
  return errors
}

function validateGeneratedSelector(
  { metadata }: MutableObject,
  spec: JobSpec,
  prefixed: boolean,
  errors: FieldError[],
): void {
  if (spec.manualSelector || !spec.selector) return
  const { name = '', uid = '' } = metadata
  if (uid === '') errors.push(required(metadataPath.child('uid')))
  const expected: Record<string, string> = {}
  const found = (spec.template?.metadata?.labels ?? {}) as Record<string, string>
  const keys = [uidLabels[0]!, nameLabels[0]!, ...(prefixed ? [uidLabels[1]!, nameLabels[1]!] : [])]
  for (const key of keys) {
    const value = uidLabels.includes(key) ? uid : name
    expected[key] = value
    const path = specPath.child('template', 'metadata', 'labels').key(key)
    if (found[key] === undefined) errors.push(required(path, `must be '${value}'`))
    else if (found[key] !== value) errors.push(invalid(path, sortedMap(found), `must be '${value}'`))
  }
  if (trySelector(spec.selector)?.matches(expected) === false) {
    errors.push(invalid(specPath.child('selector'), selectorValue(spec.selector), '`selector` not auto-generated'))
  }
}

function validateSpec(spec: JobSpec, allowInvalidLabelValue: boolean, errors: FieldError[]): void {
  validateAnyJobSpec(spec, specPath, errors)
  if (spec.selector) checkSelector(errors, specPath.child('selector'), spec.selector, allowInvalidLabelValue)
  else errors.push(required(specPath.child('selector')))
  checkSelected(errors, specPath.child('template'), spec.selector, (spec.template ?? {}) as PodTemplate)
}
