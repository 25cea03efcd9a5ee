import type { MutableObject, Resource, TableColumn, TableDefinition } from '../registry/resource.ts'
import { partialObjectMetadata } from './partial-object-metadata.ts'

const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names'
const createdDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

/** The columns of resources that have none of their own. */
export const defaultTable: TableDefinition = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: nameDescription },
    { name: 'Created At', type: 'date', description: createdDescription },
  ],
  row: (object) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? '<unknown>'],
}

/** Which part of each object a row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** Objects as a meta.k8s.io Table. */
export function tableOf(
  resource: Resource,
  objects: readonly MutableObject[],
  metadata: Readonly<Record<string, unknown>>,
  apiVersion: string,
  now: number,
  include: IncludeObject,
): Record<string, unknown> {
  const table = resource.table ?? defaultTable
  return {
    kind: 'Table',
    apiVersion,
    metadata,
    columnDefinitions: table.columns.map(columnDefinition),
    rows: objects.map((object) => tableRow(table, object, apiVersion, now, include)),
  }
}

/** One row: the cells and the part of the object asked for. */
export function tableRow(
  table: TableDefinition,
  object: MutableObject,
  apiVersion: string,
  now: number,
  include: IncludeObject,
): Record<string, unknown> {
  const row = { cells: table.row(object, now) }
  if (include === 'None') return row
  return { ...row, object: include === 'Object' ? object : partialObjectMetadata(object, apiVersion) }
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
