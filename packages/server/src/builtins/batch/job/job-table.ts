import type { Job } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { humanDuration, millisOf } from '../../../table/human.ts'
import { containerColumns, selectorColumn } from '../../../table/workload-columns.ts'

/** The columns of Jobs. */
export const jobTable: TableDefinition = defineTable<Job>([
  nameColumn,
  textColumn('Status', 'State of the job.', statusText),
  textColumn('Completions', 'Pods that succeeded out of the pods that have to.', completionsText),
  textColumn('Duration', 'Time from the start to the completion of the job.', durationText),
  ageColumn,
  containerColumns(({ spec }) => spec?.template),
  selectorColumn(({ spec }) => spec?.selector),
])

function statusText({ metadata, status }: Loose<Job>): string {
  const holds = (wanted: string): boolean => status?.conditions?.find(({ type }) => type === wanted)?.status === 'True'
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
