import { newBadRequest } from '@kubewright/api'
import type { MutableObject } from '../resource/object.ts'
import type { TableColumn, TableDefinition } from '../resource/table-definition.ts'
import { nameDefinition } from './columns.ts'
import { partialObjectMetadata } from './partial-object-metadata.ts'

/** The columns of resources that have none of their own. */
export const defaultTable: TableDefinition = {
  columns: [nameDefinition, { name: 'Created At', type: 'date', description: 'Time of the creation of the object.' }],
  // The zero time of Go stands for none.
  row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
  nullRows: true,
}

/** Which part of each object a row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** How a client wants its table. */
export interface TableOptions {
  /** meta.k8s.io/v1 or v1beta1. */
  readonly apiVersion: string
  readonly include: IncludeObject
  /** How the server holds an object, which is what rows show. @default as it is */
  readonly inner?: ((object: MutableObject) => MutableObject) | undefined
}

/** Reads the query parameter includeObject; throws a bad request for a value that there is not. */
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

/** Objects as a meta.k8s.io Table; without headers it has rows only, as the later events of a watch do. */
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

/** What the table of a single object says about itself: the version of the object, if it has one. */
export function tableMetadata({ metadata: { resourceVersion } }: MutableObject): Record<string, unknown> {
  return resourceVersion ? { resourceVersion } : {}
}

function tableRow(
  table: TableDefinition,
  object: MutableObject,
  { apiVersion, include, inner }: TableOptions,
  now: number,
): Record<string, unknown> {
  const inside = inner?.(object) ?? object
  const conditions = table.conditions?.(inside)
  return {
    cells: table.row(inside, now),
    ...(conditions ? { conditions } : {}),
    object:
      include === 'Object' ? object : showsMetadata(inside, include) ? partialObjectMetadata(inside, apiVersion) : null,
  }
}

/** The bookmark that ends the initial events keeps its metadata: clients find it by its annotation. */
function showsMetadata({ metadata }: MutableObject, include: IncludeObject): boolean {
  return include === 'Metadata' || metadata.annotations?.['k8s.io/initial-events-end'] === 'true'
}

const definitions = new WeakMap<TableDefinition, readonly Record<string, unknown>[]>()

/** The columns with every field that their JSON has, made once for each table. */
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
