import { errorText, nameIsDNSSubdomain, parseCron, timeZone } from '@kubewright/base'
import type * as batch from '@kubewright/k8s/batch/v1'
import { type FieldError, type FieldPath, invalid } from '@kubewright/schema'
import { withStatus } from '../../../resource/status-strategy.ts'
import { podNameWarnings } from '../../apps/workload/pod-workload.ts'
import { checkEnum, checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import { isTooLong, metadataPath, part, selectorValue, specPath } from '../../checks/strategy-checks.ts'
import { defaultPodTemplate } from '../../core/pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../../core/pod/defaults/drop-disabled-fields.ts'
import type { PodSpec, PodTemplate } from '../../core/pod/pod-types.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { defaultFailurePolicy } from '../job/pod-failure-policy.ts'
import { jobSpecWarnings, validateAnyJobSpec } from '../job/validate-job-spec.ts'
import { cronJobTable } from './cron-job-table.ts'

type Spec = Unchecked<batch.CronJobSpec>

/** The names of jobs append eleven characters to the name of the CronJob. */
const maxName = 52
const jobSpecPath = specPath.child('jobTemplate', 'spec')

/** CronJobs (pkg/registry/batch/cronjob, pkg/apis/batch). */
export const cronJobs: BuiltinDefinition = defineBuiltin({
  group: 'batch',
  resource: 'cronjobs',
  table: cronJobTable,
  ...withStatus(
    withoutDisabledFields(
      {
        validateName: nameIsDNSSubdomain,
        metadataOnUpdate: ['update'],
        defaultPropagation: 'Background',
        setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
        generation: true,
        validate: (object) => {
          const { name = '' } = object.metadata
          const errors: FieldError[] = []
          validateSpec(part<Spec>(object, 'spec'), undefined, errors)
          if (isTooLong(name, maxName)) {
            errors.push(invalid(metadataPath.child('name'), name, 'must be no more than 52 characters'))
          }
          return errors
        },
        validateUpdate: (object, old) => {
          const errors: FieldError[] = []
          validateSpec(part<Spec>(object, 'spec'), part<Spec>(old, 'spec'), errors)
          return errors
        },
        warningsOnCreate: (object) => [
          ...podNameWarnings(object),
          ...jobSpecWarnings(part<Spec>(object, 'spec').jobTemplate?.spec ?? {}, jobSpecPath),
        ],
        warningsOnUpdate: (object, old) => {
          const spec = part<Spec>(object, 'spec')
          const changed = object.metadata.generation !== old.metadata.generation
          const warnings = changed ? jobSpecWarnings(spec.jobTemplate?.spec ?? {}, jobSpecPath) : []
          if (spec.schedule?.includes('TZ')) {
            // As in kube-apiserver: the path repeats `spec`.
            warnings.push(
              'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, ' +
                'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
            )
          }
          return warnings
        },
      },
      (object) => (object['spec'] as Spec | undefined)?.jobTemplate?.spec?.template?.spec as PodSpec | undefined,
    ),
  ),
})

function setDefaults(spec: Spec): void {
  spec.concurrencyPolicy ||= 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= 3
  spec.failedJobsHistoryLimit ??= 1
  const job = ((spec.jobTemplate ??= {}).spec ??= {})
  defaultPodTemplate((job.template ??= {}) as PodTemplate)
  defaultFailurePolicy(job.podFailurePolicy)
}

function validateSpec(spec: Spec, old: Spec | undefined, errors: FieldError[]): void {
  const { schedule = '', timeZone: zone, jobTemplate } = spec
  const schedulePath = specPath.child('schedule')
  if (schedule === '') checkEnum(errors, schedulePath, schedule, [], true)
  else validateSchedule(schedule, zone, old?.schedule?.includes('TZ') ?? false, schedulePath, errors)
  checkNonNegative(errors, specPath.child('startingDeadlineSeconds'), spec.startingDeadlineSeconds)
  if (zone !== undefined && old?.timeZone !== zone) validateTimeZone(zone, errors)
  const policies = ['Allow', 'Forbid', 'Replace']
  checkEnum(errors, specPath.child('concurrencyPolicy'), spec.concurrencyPolicy, policies, true)
  const job = jobTemplate?.spec ?? {}
  validateAnyJobSpec(job, jobSpecPath, errors)
  if (job.selector) {
    const text = '`selector` will be auto-generated'
    errors.push(invalid(jobSpecPath.child('selector'), selectorValue(job.selector), text))
  }
  if (job.manualSelector) errors.push(unsupported(jobSpecPath.child('manualSelector'), true, ['nil', 'false']))
  checkNonNegative(errors, specPath.child('successfulJobsHistoryLimit'), spec.successfulJobsHistoryLimit)
  checkNonNegative(errors, specPath.child('failedJobsHistoryLimit'), spec.failedJobsHistoryLimit)
}

function validateSchedule(
  schedule: string,
  zone: string | undefined,
  allowZone: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const problem = failureOf(() => parseCron(schedule))
  if (problem !== undefined) errors.push(invalid(path, schedule, problem))
  if (!schedule.includes('TZ')) return
  if (!allowZone) {
    errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  } else if (zone !== undefined) {
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  }
}

function validateTimeZone(zone: string, errors: FieldError[]): void {
  const path = specPath.child('timeZone')
  if (zone === '') {
    errors.push(invalid(path, zone, 'timeZone must be nil or non-empty string'))
    return
  }
  const odd = (step: string): boolean => ['.', '..'].includes(step) || !/^(?!-)[A-Za-z.\-_0-9+]{1,14}$/.test(step)
  if (zone.split('/').some(odd)) {
    errors.push(invalid(path, zone, `unknown time zone ${zone}`))
    return
  }
  if (zone.toLowerCase() === 'local') {
    const text = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
    errors.push(invalid(path, zone, text))
  }
  const problem = failureOf(() => timeZone(zone))
  if (problem !== undefined) errors.push(invalid(path, zone, problem))
}

function failureOf(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    return errorText(error)
  }
}
