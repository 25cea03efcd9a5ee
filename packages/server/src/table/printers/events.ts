import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { nameColumn, printer, textColumn, wideColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** An event of either group; events.k8s.io keeps the older fields under other names. */
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

const events = printer<AnyEvent>(
  [
    textColumn('Last Seen', columnTexts['Event.lastTimestamp']),
    textColumn('Type', columnTexts['Event.type']),
    textColumn('Reason', columnTexts['Event.reason']),
    textColumn('Object', columnTexts['Event.involvedObject']),
    wideColumn('Subobject', columnTexts['ObjectReference.fieldPath']),
    wideColumn('Source', columnTexts['Event.source']),
    textColumn('Message', columnTexts['Event.message']),
    wideColumn('First Seen', columnTexts['Event.firstTimestamp']),
    wideColumn('Count', columnTexts['Event.count']),
    { ...nameColumn, priority: 1 },
  ],
  (event, now) => {
    const { series } = event
    const first = event.firstTimestamp || event.deprecatedFirstTimestamp || event.eventTime
    const last = series ? series.lastObservedTime : event.lastTimestamp || event.deprecatedLastTimestamp || first
    const about = event.involvedObject ?? event.regarding ?? {}
    const kind = (about.kind ?? '').toLowerCase()
    const source = event.source ?? event.deprecatedSource ?? {}
    const component = source.component || event.reportingComponent || event.reportingController || ''
    const instance = source.host || event.reportingInstance || ''
    return [
      ageOf(last, now),
      event.type ?? '',
      event.reason ?? '',
      about.name ? `${kind}/${about.name}` : kind,
      about.fieldPath ?? '',
      instance === '' ? component : `${component}, ${instance}`,
      (event.message ?? event.note ?? '').trim(),
      ageOf(first, now),
      series ? (series.count ?? 0) : event.count || event.deprecatedCount || 1,
      event.metadata?.name ?? '',
    ]
  },
)

/** The table of events, which two groups serve. */
export const eventTables: Readonly<Record<string, TableDefinition>> = {
  '/events': events,
  'events.k8s.io/events': events,
}
