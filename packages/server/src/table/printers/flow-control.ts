import type { FlowSchema, PriorityLevelConfiguration } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** Tables of the group flowcontrol.apiserver.k8s.io. */
export const flowControlTables: Readonly<Record<string, TableDefinition>> = {
  'flowcontrol.apiserver.k8s.io/flowschemas': printer<FlowSchema>(
    [
      nameColumn,
      textColumn('PriorityLevel', columnTexts['PriorityLevelConfigurationReference.name']),
      textColumn('MatchingPrecedence', columnTexts['FlowSchemaSpec.matchingPrecedence']),
      textColumn('DistinguisherMethod', columnTexts['FlowSchemaSpec.distinguisherMethod']),
      ageColumn,
      textColumn('MissingPL', 'references a broken or non-existent PriorityLevelConfiguration'),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      spec?.priorityLevelConfiguration?.name ?? '',
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod ? (spec.distinguisherMethod.type ?? '') : '<none>',
      ageOf(metadata?.creationTimestamp, now),
      status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ],
  ),
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': printer<PriorityLevelConfiguration>(
    [
      nameColumn,
      textColumn('Type', columnTexts['PriorityLevelConfigurationSpec.type']),
      textColumn('NominalConcurrencyShares', columnTexts['LimitedPriorityLevelConfiguration.nominalConcurrencyShares']),
      textColumn('Queues', columnTexts['QueuingConfiguration.queues']),
      textColumn('HandSize', columnTexts['QueuingConfiguration.handSize']),
      textColumn('QueueLengthLimit', columnTexts['QueuingConfiguration.queueLengthLimit']),
      ageColumn,
    ],
    ({ metadata, spec }, now) => {
      const limited = spec?.limited
      const queuing = limited?.limitResponse?.queuing
      return [
        metadata?.name ?? '',
        spec?.type ?? '',
        limited ? (limited.nominalConcurrencyShares ?? 0) : '<none>',
        queuing ? (queuing.queues ?? 0) : '<none>',
        queuing ? (queuing.handSize ?? 0) : '<none>',
        queuing ? (queuing.queueLengthLimit ?? 0) : '<none>',
        ageOf(metadata?.creationTimestamp, now),
      ]
    },
  ),
}
