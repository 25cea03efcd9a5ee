import { formatLabelSelector } from '@kubewright/api'
import type { CronJob, Job } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import {
  ageColumn,
  booleanColumn,
  containerColumns,
  integerColumn,
  type Loose,
  nameColumn,
  printer,
  textColumn,
  wideColumn,
} from '../columns.ts'
import { ageOf, containerCells, humanDuration, millisOf } from '../human.ts'
import { asSelector } from './loose-selector.ts'

/** Tables of the group batch. */
export const batchTables: Readonly<Record<string, TableDefinition>> = {
  'batch/jobs': printer<Job>(
    [
      nameColumn,
      textColumn('Status', 'Status of the job.'),
      textColumn('Completions', columnTexts['JobStatus.succeeded']),
      textColumn('Duration', 'Time required to complete the job.'),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['JobSpec.selector']),
    ],
    (job, now) => [
      job.metadata?.name ?? '',
      statusText(job),
      completionsText(job),
      durationText(job, now),
      ageOf(job.metadata?.creationTimestamp, now),
      ...containerCells(job.spec?.template?.spec?.containers),
      formatLabelSelector(asSelector(job.spec?.selector)),
    ],
  ),
  'batch/cronjobs': printer<CronJob>(
    [
      nameColumn,
      textColumn('Schedule', columnTexts['CronJobSpec.schedule']),
      textColumn('Timezone', columnTexts['CronJobSpec.timeZone']),
      booleanColumn('Suspend', columnTexts['CronJobSpec.suspend']),
      integerColumn('Active', columnTexts['CronJobStatus.active']),
      textColumn('Last Schedule', columnTexts['CronJobStatus.lastScheduleTime']),
      ageColumn,
      ...containerColumns,
      wideColumn('Selector', columnTexts['JobSpec.selector']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      spec?.schedule ?? '',
      spec?.timeZone ?? '<none>',
      // Text, although the column says boolean.
      typeof spec?.suspend === 'boolean' ? (spec.suspend ? 'True' : 'False') : '<unset>',
      status?.active?.length ?? 0,
      status?.lastScheduleTime ? ageOf(status.lastScheduleTime, now) : '<none>',
      ageOf(metadata?.creationTimestamp, now),
      ...containerCells(spec?.jobTemplate?.spec?.template?.spec?.containers),
      formatLabelSelector(asSelector(spec?.jobTemplate?.spec?.selector)),
    ],
  ),
}

function statusText({ metadata, status }: Loose<Job>): string {
  const holds = (type: string): boolean => status?.conditions?.find((one) => one.type === type)?.status === 'True'
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (metadata?.deletionTimestamp) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running'
}

function completionsText({ spec, status }: Loose<Job>): string {
  const succeeded = status?.succeeded ?? 0
  if (typeof spec?.completions === 'number') return `${succeeded}/${spec.completions}`
  const parallelism = spec?.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationText({ status }: Loose<Job>, now: number): string {
  if (!status?.startTime) return ''
  const end = status.completionTime ? millisOf(status.completionTime) : now
  return humanDuration(end - millisOf(status.startTime))
}
