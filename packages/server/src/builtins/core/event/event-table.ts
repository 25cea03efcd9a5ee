import type { TableDefinition } from '../../../resource/table-definition.ts'
import { column, defineTable, type Loose, nameDefinition, textColumn, wideColumn } from '../../../table/columns.ts'
import { ageOf } from '../../../table/human.ts'

/** An Event of either group; events.k8s.io has other names for the older fields. */
interface AnyEvent {
  metadata: { name: string }
  type: string
  reason: string
  message: string
  note: string
  count: number
  deprecatedCount: number
  firstTimestamp: string
  deprecatedFirstTimestamp: string
  lastTimestamp: string
  deprecatedLastTimestamp: string
  eventTime: string
  series: { count: number; lastObservedTime: string }
  involvedObject: Reference
  regarding: Reference
  source: Source
  deprecatedSource: Source
  reportingComponent: string
  reportingController: string
  reportingInstance: string
}

interface Reference {
  kind: string
  name: string
  fieldPath: string
}

interface Source {
  component: string
  host: string
}

/** The columns of Events, in both groups. */
export const eventTable: TableDefinition = defineTable<AnyEvent>([
  textColumn('Last Seen', 'Time since the last occurrence.', (event, now) => ageOf(lastSeen(event), now)),
  textColumn('Type', 'Normal or Warning.', ({ type }) => type ?? ''),
  textColumn('Reason', 'Reason in one word.', ({ reason }) => reason ?? ''),
  textColumn('Object', 'Kind and name of the object that the event is about.', objectText),
  wideColumn('Subobject', 'Part of the object that the event is about.', (event) => subject(event).fieldPath ?? ''),
  wideColumn('Source', 'Component that reported the event.', sourceText),
  textColumn('Message', 'Description of the event.', ({ message, note }) => (message ?? note ?? '').trim()),
  wideColumn('First Seen', 'Time since the first occurrence.', (event, now) => ageOf(firstSeen(event), now)),
  wideColumn('Count', 'Number of occurrences.', ({ series, count, deprecatedCount }) =>
    series ? (series.count ?? 0) : count || deprecatedCount || 1,
  ),
  column({ ...nameDefinition, priority: 1 }, ({ metadata }) => metadata?.name ?? ''),
])

function firstSeen(event: Loose<AnyEvent>): string | null | undefined {
  return event.firstTimestamp || event.deprecatedFirstTimestamp || event.eventTime
}

function lastSeen(event: Loose<AnyEvent>): string | null | undefined {
  if (event.series) return event.series.lastObservedTime
  return event.lastTimestamp || event.deprecatedLastTimestamp || firstSeen(event)
}

function subject({ involvedObject, regarding }: Loose<AnyEvent>): Loose<Reference> {
  return involvedObject ?? regarding ?? {}
}

function objectText(event: Loose<AnyEvent>): string {
  const { kind, name } = subject(event)
  const text = (kind ?? '').toLowerCase()
  return name ? `${text}/${name}` : text
}

function sourceText(event: Loose<AnyEvent>): string {
  const source = event.source ?? event.deprecatedSource ?? {}
  const component = source.component || event.reportingComponent || event.reportingController || ''
  const instance = source.host || event.reportingInstance || ''
  return instance === '' ? component : `${component}, ${instance}`
}
