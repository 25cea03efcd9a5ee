import type { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

const nameAndAge = printer<DeviceClass | ResourceClaimTemplate>([nameColumn, ageColumn], ({ metadata }, now) => [
  metadata?.name ?? '',
  ageOf(metadata?.creationTimestamp, now),
])

/** Tables of the group resource.k8s.io. */
export const resourceClaimTables: Readonly<Record<string, TableDefinition>> = {
  'resource.k8s.io/deviceclasses': nameAndAge,
  'resource.k8s.io/resourceclaimtemplates': nameAndAge,
  'resource.k8s.io/resourceclaims': printer<ResourceClaim>(
    [
      nameColumn,
      textColumn('State', 'A summary of the current state (allocated, pending, reserved, etc.).'),
      ageColumn,
    ],
    (claim, now) => [claim.metadata?.name ?? '', stateText(claim), ageOf(claim.metadata?.creationTimestamp, now)],
  ),
  'resource.k8s.io/resourceslices': printer<ResourceSlice>(
    [
      nameColumn,
      textColumn('Node', columnTexts['ResourceSliceSpec.nodeName']),
      textColumn('Driver', columnTexts['ResourceSliceSpec.driver']),
      textColumn('Pool', columnTexts['ResourcePool.name']),
      ageColumn,
    ],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.nodeName ?? '',
      spec?.driver ?? '',
      spec?.pool?.name ?? '',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
}

function stateText({ metadata, status }: Loose<ResourceClaim>): string {
  const deleted = Boolean(metadata?.deletionTimestamp)
  const states = deleted ? ['deleted'] : []
  if (status?.allocation) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []))
  else if (!deleted) states.push('pending')
  return states.join(',')
}
