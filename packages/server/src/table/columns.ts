import { append } from '@kubewright/base'
import type { MutableObject } from '../resource/object.ts'
import type { TableColumn, TableDefinition, TableRowCondition } from '../resource/table-definition.ts'
import { ageOf } from './human.ts'

/**
 * An object whose fields may all be missing or null. Printers get such objects: a bookmark of a watch has little more than a kind, and
 * objects that an older version stored may lack fields that are required today.
 */
export type Loose<T> = T extends readonly (infer E)[]
  ? readonly Loose<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Loose<T[K]> | null }
    : T

/** One or more adjacent columns, and the function that fills them. */
export interface Columns<O> {
  readonly definitions: readonly TableColumn[]
  /** Returns one cell per column. `now` is the time of the request in epoch milliseconds. */
  readonly cells: (object: O, now: number) => readonly unknown[]
}

type Cell<O> = (object: O, now: number) => unknown

/** Defines a table from its columns, from left to right. */
export function defineTable<T>(
  columns: readonly Columns<Loose<T>>[],
  options: Pick<TableDefinition, 'repeatColumns'> & {
    readonly conditions?: ((object: Loose<T>) => readonly TableRowCondition[] | undefined) | undefined
  } = {},
): TableDefinition {
  // The only cast: the server looks a table up by resource, so every object is of the table's kind.
  const typed = (object: MutableObject): Loose<T> => object as unknown as Loose<T>
  const { conditions, ...rest } = options
  return {
    ...rest,
    columns: columns.flatMap(({ definitions }) => definitions),
    row: (object, now) => {
      const cells: unknown[] = []
      for (const column of columns) append(cells, column.cells(typed(object), now))
      return cells
    },
    ...(conditions ? { conditions: (object: MutableObject) => conditions(typed(object)) } : {}),
  }
}

/** A single column. */
export function column<O>(definition: TableColumn, cell: Cell<O>): Columns<O> {
  return { definitions: [definition], cells: (object, now) => [cell(object, now)] }
}

/** A column of text. Cells may be numbers, as in kube-apiserver's tables. */
export function textColumn<O>(name: string, description: string, cell: Cell<O>): Columns<O> {
  return column({ name, type: 'string', description }, cell)
}

/** A column of whole numbers. */
export function integerColumn<O>(name: string, description: string, cell: Cell<O>): Columns<O> {
  return column({ name, type: 'integer', description }, cell)
}

/** A column of booleans. */
export function booleanColumn<O>(name: string, description: string, cell: Cell<O>): Columns<O> {
  return column({ name, type: 'boolean', description }, cell)
}

/** A column of text that only `kubectl get -o wide` shows. */
export function wideColumn<O>(name: string, description: string, cell: Cell<O>): Columns<O> {
  return column({ name, type: 'string', priority: 1, description }, cell)
}

interface WithMetadata {
  readonly metadata?:
    | { readonly name?: string | null | undefined; readonly creationTimestamp?: string | null | undefined }
    | null
    | undefined
}

/** The definition of the name column, for tables that are not built from {@link Columns}. */
export const nameDefinition: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object.',
}

/** The name of the object: the first column of nearly every table. */
export const nameColumn: Columns<WithMetadata> = column(nameDefinition, ({ metadata }) => metadata?.name ?? '')

/** The time since the creation of the object. */
export const ageColumn: Columns<WithMetadata> = textColumn(
  'Age',
  'Time since the object was created.',
  ({ metadata }, now) => ageOf(metadata?.creationTimestamp, now),
)

/** The table of kinds that show nothing but name and age. */
export const nameAndAgeTable: TableDefinition = defineTable<WithMetadata>([nameColumn, ageColumn])
