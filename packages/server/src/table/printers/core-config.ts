import type { ComponentStatus, ConfigMap, Namespace, ResourceQuota, Secret, ServiceAccount } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf, quantityText } from '../human.ts'

/** Tables of the core group's kinds that hold configuration and bounds. */
export const configTables: Readonly<Record<string, TableDefinition>> = {
  '/namespaces': printer<Namespace>(
    [nameColumn, textColumn('Status', 'The status of the namespace'), ageColumn],
    ({ metadata, status }, now) => [metadata?.name ?? '', status?.phase ?? '', ageOf(metadata?.creationTimestamp, now)],
  ),
  '/configmaps': printer<ConfigMap>(
    [nameColumn, textColumn('Data', columnTexts['ConfigMap.data']), ageColumn],
    ({ metadata, data, binaryData }, now) => [
      metadata?.name ?? '',
      Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  '/secrets': printer<Secret>(
    [
      nameColumn,
      textColumn('Type', columnTexts['Secret.type']),
      textColumn('Data', columnTexts['Secret.data']),
      ageColumn,
    ],
    ({ metadata, type, data }, now) => [
      metadata?.name ?? '',
      type ?? '',
      Object.keys(data ?? {}).length,
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  '/serviceaccounts': printer<ServiceAccount>([nameColumn, ageColumn], ({ metadata }, now) => [
    metadata?.name ?? '',
    ageOf(metadata?.creationTimestamp, now),
  ]),
  '/resourcequotas': printer<ResourceQuota>(
    [
      nameColumn,
      textColumn('Request', 'Request represents a minimum amount of cpu/memory that a container may consume.'),
      textColumn(
        'Limit',
        'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      ),
      ageColumn,
    ],
    (quota, now) => [
      quota.metadata?.name ?? '',
      usageText(quota, (resource) => !resource.startsWith('limits.')),
      usageText(quota, (resource) => resource.startsWith('limits.')),
      ageOf(quota.metadata?.creationTimestamp, now),
    ],
  ),
  '/componentstatuses': printer<ComponentStatus>(
    [
      nameColumn,
      textColumn('Status', 'Status of the component conditions'),
      textColumn('Message', 'Message of the component conditions'),
      textColumn('Error', 'Error of the component conditions'),
    ],
    ({ metadata, conditions }) => {
      const healthy = conditions?.find(({ type }) => type === 'Healthy')
      const status = healthy ? (healthy.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown'
      return [metadata?.name ?? '', status, healthy?.message ?? '', healthy?.error ?? '']
    },
  ),
}

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
