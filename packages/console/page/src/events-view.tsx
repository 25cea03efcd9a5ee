import type { ObjectView } from '../../src/wire/object-view.ts'
import { FeedStatus } from './feed-status.tsx'
import { go, objectRoute } from './route.ts'
import { text } from './text.ts'
import { useTable } from './use-table.ts'
import { VirtualTable } from './virtual-table.tsx'

const resource = { group: '', version: 'v1', plural: 'events' }

/** The Events about one object, newest first. */
export function EventsView({ object }: { readonly object: ObjectView }) {
  const table = useTable({
    type: 'table',
    resource,
    namespace: object.namespace,
    fieldSelector: `involvedObject.uid=${object.uid}`,
  })
  const rows = [...table.rows.values()].sort((a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0))
  return (
    <>
      <FeedStatus state={table.state} problem={table.problem} />
      <VirtualTable
        label={text('events')}
        columns={table.columns}
        rows={rows}
        isWide={false}
        showsNamespace={false}
        empty={table.state === 'live' ? text('noRows') : undefined}
        sorting={undefined}
        onSort={() => undefined}
        onOpen={({ name, namespace }) => go(objectRoute({ resource, name, namespace }))}
      />
    </>
  )
}
