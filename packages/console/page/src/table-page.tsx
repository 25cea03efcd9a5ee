import { useState } from 'preact/hooks'
import type { Row } from '../../src/wire/messages.ts'
import { connection } from './connection.ts'
import { FaultDialog } from './fault-dialog.tsx'
import { FeedStatus } from './feed-status.tsx'
import { go, objectRoute, type Route } from './route.ts'
import { SelectorInput } from './selector-input.tsx'
import { findKind, useShared } from './settings.ts'
import type { Sorting } from './sort-rows.ts'
import { SortedRows } from './sorted-rows.ts'
import { text } from './text.ts'
import { useTable } from './use-table.ts'
import { VirtualTable } from './virtual-table.tsx'

type TableRoute = Extract<Route, { view: 'table' }>

/** The objects of one kind, with the columns of the server. */
export function TablePage({ route }: { readonly route: TableRoute }) {
  const { kinds, namespace, readOnly } = useShared()
  const { resource, labelSelector, fieldSelector } = route
  const kind = findKind(kinds, resource)
  const [filter, setFilter] = useState('')
  const [isWide, setWide] = useState(false)
  const [isFaulty, setFaulty] = useState(false)
  const [sorting, setSorting] = useState<Sorting>()
  const scope = kind?.namespaced === false ? undefined : namespace || undefined
  const table = useTable({ type: 'table', resource, namespace: scope, labelSelector, fieldSelector })
  // Also the kind of a link whose CRD was deleted.
  const isUnknown = kind === undefined && kinds.length > 0 && table.rows.size === 0
  const showsNamespace = kind?.namespaced === true && scope === undefined
  const [sorted] = useState(() => new SortedRows())
  const rows = sorted.update(table, filter, sorting)
  const open = (row: Row, tab?: 'yaml' | 'edit'): void =>
    go(objectRoute({ resource, name: row.name, namespace: row.namespace }, tab))
  return (
    <>
      <div class="toolbar">
        <h1>{kind?.kind ?? resource.plural}</h1>
        <input
          type="search"
          data-filter
          aria-label={text('filterText')}
          placeholder={`${text('filterText')}  /`}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <SelectorInput
          label={text('labelSelector')}
          example="app=web,tier!=test"
          value={labelSelector}
          onChange={(value) => go({ ...route, labelSelector: value })}
        />
        <SelectorInput
          label={text('fieldSelector')}
          example="metadata.name=web"
          value={fieldSelector}
          onChange={(value) => go({ ...route, fieldSelector: value })}
        />
        <label class="check">
          <input type="checkbox" checked={isWide} onChange={({ currentTarget }) => setWide(currentTarget.checked)} />
          {text('wideColumns')}
        </label>
        <span class="grow" />
        {!readOnly && kind && connection.hello?.levers.requests && (
          <button type="button" onClick={() => setFaulty(true)}>
            {text('causeFaults')}
          </button>
        )}
        {!readOnly && kind?.verbs.includes('create') && (
          <button type="button" onClick={() => go({ view: 'new', resource })}>
            {text('create')}
          </button>
        )}
        <span class="count">{text('count', rows.length, table.rows.size)}</span>
        {!isUnknown && <FeedStatus state={table.state} problem={table.problem} />}
      </div>
      <VirtualTable
        label={kind?.kind ?? resource.plural}
        columns={table.columns}
        rows={rows}
        isWide={isWide}
        showsNamespace={showsNamespace}
        empty={
          isUnknown
            ? text('unknownKind')
            : table.state === 'live'
              ? text(table.rows.size === 0 ? 'noRows' : 'noMatch')
              : undefined
        }
        sorting={sorting}
        onSort={setSorting}
        onOpen={open}
      />
      {isFaulty && kind && <FaultDialog kind={kind} onClose={() => setFaulty(false)} />}
    </>
  )
}
