import type { ResourceQuota } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { quantityText } from '../../../table/human.ts'

/** The columns of ResourceQuotas. */
export const resourceQuotaTable: TableDefinition = defineTable<ResourceQuota>([
  nameColumn,
  textColumn('Request', 'Use of all resources but limits, out of the quota.', (quota) =>
    usageText(quota, (resource) => !resource.startsWith('limits.')),
  ),
  textColumn('Limit', 'Use of limits, out of the quota.', (quota) =>
    usageText(quota, (resource) => resource.startsWith('limits.')),
  ),
  ageColumn,
])

function usageText({ status }: Loose<ResourceQuota>, wanted: (resource: string) => boolean): string {
  return Object.keys(status?.hard ?? {})
    .filter(wanted)
    .sort()
    .map((resource) => {
      const used = quantityText(status?.used?.[resource])
      return `${resource}: ${used}/${quantityText(status?.hard?.[resource])}`
    })
    .join(', ')
}
