import type { Scale } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../../table/column-texts.ts'
import { ageColumn, integerColumn, printer, textColumn } from '../../table/columns.ts'
import { ageOf } from '../../table/human.ts'

/** The table of the scale subresource of built-in kinds. */
export const scaleTable: TableDefinition = printer<Scale>(
  [
    textColumn('Name', columnTexts['ObjectMeta.name']),
    integerColumn('Desired', columnTexts['ScaleSpec.replicas']),
    integerColumn('Available', columnTexts['ScaleStatus.replicas']),
    ageColumn,
  ],
  ({ metadata, spec, status }, now) => [
    metadata?.name ?? '',
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    ageOf(metadata?.creationTimestamp, now),
  ],
)
