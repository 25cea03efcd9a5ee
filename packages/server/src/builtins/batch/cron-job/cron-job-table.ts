import type { CronJob } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, booleanColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { ageOf } from '../../../table/human.ts'
import { containerColumns, selectorColumn } from '../../../table/workload-columns.ts'

/** The columns of CronJobs. */
export const cronJobTable: TableDefinition = defineTable<CronJob>([
  nameColumn,
  textColumn('Schedule', 'Cron schedule of the jobs.', ({ spec }) => spec?.schedule ?? ''),
  textColumn('Timezone', 'Time zone of the schedule.', ({ spec }) => spec?.timeZone ?? '<none>'),
  booleanColumn('Suspend', 'Whether the controller starts no further jobs.', ({ spec }) => suspendText(spec?.suspend)),
  integerColumn('Active', 'Number of running jobs.', ({ status }) => status?.active?.length ?? 0),
  textColumn('Last Schedule', 'Time since the last job was started.', ({ status }, now) =>
    status?.lastScheduleTime ? ageOf(status.lastScheduleTime, now) : '<none>',
  ),
  ageColumn,
  containerColumns(({ spec }) => spec?.jobTemplate?.spec?.template),
  selectorColumn(({ spec }) => spec?.jobTemplate?.spec?.selector),
])

/** Returns a text although the column is boolean, as in kube-apiserver's table. */
function suspendText(suspend: boolean | null | undefined): string {
  return typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>'
}
