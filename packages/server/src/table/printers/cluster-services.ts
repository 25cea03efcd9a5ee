import type { APIService, Lease, PriorityClass, RuntimeClass } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, booleanColumn, integerColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** Tables of groups that have a single kind: scheduling, node, coordination and apiregistration. */
export const clusterServiceTables: Readonly<Record<string, TableDefinition>> = {
  'scheduling.k8s.io/priorityclasses': printer<PriorityClass>(
    [
      nameColumn,
      integerColumn('Value', columnTexts['PriorityClass.value']),
      booleanColumn('Global-Default', columnTexts['PriorityClass.globalDefault']),
      ageColumn,
      textColumn('PreemptionPolicy', columnTexts['PriorityClass.preemptionPolicy']),
    ],
    ({ metadata, value, globalDefault, preemptionPolicy }, now) => [
      metadata?.name ?? '',
      value ?? 0,
      globalDefault ?? false,
      ageOf(metadata?.creationTimestamp, now),
      preemptionPolicy ?? '',
    ],
  ),
  'node.k8s.io/runtimeclasses': printer<RuntimeClass>(
    // The real server looks the description up in the wrong type and finds none.
    [nameColumn, textColumn('Handler', ''), ageColumn],
    ({ metadata, handler }, now) => [metadata?.name ?? '', handler ?? '', ageOf(metadata?.creationTimestamp, now)],
  ),
  'coordination.k8s.io/leases': printer<Lease>(
    [nameColumn, textColumn('Holder', columnTexts['LeaseSpec.holderIdentity']), ageColumn],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.holderIdentity ?? '',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'apiregistration.k8s.io/apiservices': {
    ...printer<APIService>(
      [
        nameColumn,
        textColumn('Service', 'The reference to the service that hosts this API endpoint.'),
        textColumn('Available', 'Whether this service is available.'),
        ageColumn,
      ],
      (service, now) => [
        service.metadata?.name ?? '',
        service.spec?.service ? `${service.spec.service.namespace ?? ''}/${service.spec.service.name ?? ''}` : 'Local',
        availability(service),
        ageOf(service.metadata?.creationTimestamp, now),
      ],
    ),
    repeatColumns: true,
  },
}

function availability({ status }: Loose<APIService>): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (!available) return 'Unknown'
  const text = available.status ?? ''
  return text !== 'True' && available.reason ? `${text} (${available.reason})` : text
}
