import { selectorFrom } from '@kubewright/api'
import type { Deployment } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, nameColumn, textColumn, wideColumn } from '../../../table/columns.ts'
import { asSelector, type LooseSelector } from '../../../table/loose-selector.ts'
import { containerColumns, readyText } from '../../../table/workload-columns.ts'

/** The columns of Deployments. */
export const deploymentTable: TableDefinition = defineTable<Deployment>([
  nameColumn,
  textColumn('Ready', 'Ready pods out of the desired pods.', readyText),
  textColumn('Up-to-date', 'Number of pods with the current template.', ({ status }) => status?.updatedReplicas ?? 0),
  textColumn(
    'Available',
    'Number of pods that have been ready long enough.',
    ({ status }) => status?.availableReplicas ?? 0,
  ),
  ageColumn,
  containerColumns(({ spec }) => spec?.template),
  wideColumn('Selector', 'Label selector of the pods.', ({ spec }) => selectorText(spec?.selector)),
])

/** Prints a selector; unlike in tables of other workloads, an empty one yields an empty text. */
function selectorText(selector: LooseSelector): string {
  try {
    return selectorFrom(asSelector(selector)).toString()
  } catch {
    return '<invalid>'
  }
}
