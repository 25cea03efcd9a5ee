import type { DaemonSet } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { labelsText } from '../../../table/human.ts'
import { containerColumns, selectorColumn } from '../../../table/workload-columns.ts'

/** The columns of DaemonSets. */
export const daemonSetTable: TableDefinition = defineTable<DaemonSet>([
  nameColumn,
  integerColumn(
    'Desired',
    'Number of nodes that should run a pod.',
    ({ status }) => status?.desiredNumberScheduled ?? 0,
  ),
  integerColumn(
    'Current',
    'Number of those nodes with at least one pod.',
    ({ status }) => status?.currentNumberScheduled ?? 0,
  ),
  integerColumn('Ready', 'Number of those nodes with a ready pod.', ({ status }) => status?.numberReady ?? 0),
  integerColumn(
    'Up-to-date',
    'Number of nodes whose pod has the current template.',
    ({ status }) => status?.updatedNumberScheduled ?? 0,
  ),
  integerColumn(
    'Available',
    'Number of those nodes whose pod has been ready long enough.',
    ({ status }) => status?.numberAvailable ?? 0,
  ),
  textColumn('Node Selector', 'Labels of the nodes that should run a pod.', ({ spec }) =>
    labelsText(spec?.template?.spec?.nodeSelector),
  ),
  ageColumn,
  containerColumns(({ spec }) => spec?.template),
  selectorColumn(({ spec }) => spec?.selector),
])
