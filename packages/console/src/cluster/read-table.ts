import { isJsonObject, textOf } from '@kubewright/base'
import type { Column, Row } from '../wire/messages.ts'
import { type Json, listAt, objectAt } from './json.ts'

/** The columns and rows of a Table. */
export interface TablePart {
  /** Absent if the part does not repeat them: a watch states them only in its first event. */
  readonly columns?: readonly Column[] | undefined
  readonly rows: readonly { readonly row: Row; readonly object: Json }[]
}

/** Reads a Table of the API server, or a part of one. */
export function readTable(table: unknown): TablePart {
  const columns = listAt(table, 'columnDefinitions').map((column) => ({
    name: textOf(column['name']),
    type: textOf(column['type']),
    description: textOf(column['description']),
    priority: typeof column['priority'] === 'number' ? column['priority'] : 0,
  }))
  const rows = listAt(table, 'rows').map((row) => ({ row: rowOf(row), object: objectAt(row, 'object') }))
  return { columns: columns.length === 0 ? undefined : columns, rows }
}

/** Reads a row of a Table, which has cells and an object. */
export function rowOf(row: Json): Row {
  const metadata = objectAt(objectAt(row, 'object'), 'metadata')
  const name = textOf(metadata['name'])
  const namespace = textOf(metadata['namespace']) || undefined
  // Objects of some extension servers have no uid.
  const uid = textOf(metadata['uid']) || `${namespace ?? ''}/${name}`
  const cells = Array.isArray(row['cells']) ? row['cells'].map(cellOf) : []
  return { uid, name, namespace, created: textOf(metadata['creationTimestamp']), cells }
}

function cellOf(cell: unknown): Row['cells'][number] {
  if (typeof cell === 'string' || typeof cell === 'number' || typeof cell === 'boolean') return cell
  return isJsonObject(cell) || Array.isArray(cell) ? JSON.stringify(cell) : null
}
