import type { PodDisruptionBudget } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { ageColumn, integerColumn, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** Tables of the group policy. */
export const policyTables: Readonly<Record<string, TableDefinition>> = {
  'policy/poddisruptionbudgets': printer<PodDisruptionBudget>(
    [
      nameColumn,
      textColumn('Min Available', 'The minimum number of pods that must be available.'),
      textColumn('Max Unavailable', 'The maximum number of pods that may be unavailable.'),
      integerColumn('Allowed Disruptions', 'Calculated number of pods that may be disrupted at this time.'),
      ageColumn,
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      String(spec?.minAvailable ?? 'N/A'),
      String(spec?.maxUnavailable ?? 'N/A'),
      status?.disruptionsAllowed ?? 0,
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
}
