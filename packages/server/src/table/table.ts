import { newBadRequest } from '@kubewright/api'
import type { MutableObject } from '../resource/object.ts'
import type { TableColumn, TableDefinition } from '../resource/table-definition.ts'
import { nameDefinition } from './columns.ts'
import { partialObjectMetadata } from './partial-object-metadata.ts'

/** The table of resources without columns of their own. */
export const defaultTable: TableDefinition = {
  columns: [nameDefinition, { name: 'Created At', type: 'date', description: 'Time of the creation of the object.' }],
  // A missing time is shown as Go's zero time.
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
  nullRows: true,
}

/** The part of the object that each row contains. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** How to build a table. */
export interface TableOptions {
  /** meta.k8s.io/v1 or v1beta1. */
  readonly apiVersion: string
  readonly include: IncludeObject
  /** Converts an object to kube-apiserver's internal form, from which rows are built. @default unchanged */
  readonly toInternal?: ((object: MutableObject) => MutableObject) | undefined
}

/** Parses the query parameter includeObject. Throws BadRequest for an unknown value. */
export function includeObjectOf(value: string | null | undefined): IncludeObject {
  switch (value ?? '') {
    case '':
    case 'Metadata':
      return 'Metadata'
    case 'None':
    case 'Object':
      return value as IncludeObject
    default:
      throw newBadRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
      )
  }
}

/** Builds a Table of objects. Without `headers` it has no column definitions, as in all but the first event of a watch. */
export function tableOf(
  table: TableDefinition,
  objects: readonly MutableObject[],
  metadata: Readonly<Record<string, unknown>>,
  options: TableOptions,
  now: number,
  headers = true,
): Record<string, unknown> {
  const rows = objects.map((object) => tableRow(table, object, options, now))
  return {
    kind: 'Table',
    apiVersion: options.apiVersion,
    metadata,
    columnDefinitions: headers || table.repeatColumns ? columnDefinitions(table) : null,
    rows: rows.length === 0 && table.nullRows ? null : rows,
  }
}

/** The metadata of the table of a single object: its resource version. */
export function tableMetadata({ metadata: { resourceVersion } }: MutableObject): Record<string, unknown> {
  return resourceVersion ? { resourceVersion } : {}
}

/** One row of a Table. */
export function tableRow(
  table: TableDefinition,
  object: MutableObject,
  { apiVersion, include, toInternal }: TableOptions,
  now: number,
): Record<string, unknown> {
  const inside = toInternal?.(object) ?? object
  const conditions = table.conditions?.(inside)
  return {
    cells: table.row(inside, now),
    ...(conditions ? { conditions } : {}),
    object:
      include === 'Object' ? object : showsMetadata(inside, include) ? partialObjectMetadata(inside, apiVersion) : null,
  }
}

/** Whether a row shows metadata. The bookmark that ends the initial events always does: clients recognize it by its annotation. */
function showsMetadata({ metadata }: MutableObject, include: IncludeObject): boolean {
  return include === 'Metadata' || metadata.annotations?.['k8s.io/initial-events-end'] === 'true'
}

const definitions = new WeakMap<TableDefinition, readonly Record<string, unknown>[]>()

/** The column definitions of a table with all fields. They are built once per table. */
function columnDefinitions(table: TableDefinition): readonly Record<string, unknown>[] {
  let made = definitions.get(table)
  if (!made) {
    made = table.columns.map(columnDefinition)
    definitions.set(table, made)
  }
  return made
}

function columnDefinition(column: TableColumn): Record<string, unknown> {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description ?? '',
    priority: column.priority ?? 0,
  }
}
