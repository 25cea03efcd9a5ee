import type { MutableObject } from '../resource/object.ts'
import type { TableColumn, TableDefinition, TableRowCondition } from '../resource/table-definition.ts'
import { columnTexts } from './column-texts.ts'

/** The first column of nearly every table. */
export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: columnTexts['ObjectMeta.name'],
}

/** How long ago the object was created, as text. */
export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  description: columnTexts['ObjectMeta.creationTimestamp'],
}

/** A column of text. */
export function textColumn(name: string, description: string): TableColumn {
  return { name, type: 'string', description }
}

/** A column of whole numbers. */
export function integerColumn(name: string, description: string): TableColumn {
  return { name, type: 'integer', description }
}

/** A column of booleans. */
export function booleanColumn(name: string, description: string): TableColumn {
  return { name, type: 'boolean', description }
}

/** A column of text that only wide output shows. */
export function wideColumn(name: string, description: string): TableColumn {
  return { name, type: 'string', priority: 1, description }
}

/** The containers of a pod template, for wide output. */
export const containerColumns: readonly TableColumn[] = [
  wideColumn('Containers', 'Names of each container in the template.'),
  wideColumn('Images', 'Images referenced by each container in the template.'),
]

/**
 * An object of which nothing may be taken for granted: a bookmark is shown as a row as well, and has little more than a kind, and what
 * old versions stored may lack what the kind demands today.
 */
export type Loose<T> = T extends readonly (infer E)[]
  ? readonly Loose<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Loose<T[K]> | null }
    : T

/** Builds the table of a kind; every cell of a row stands below the column at its index. */
export function printer<T>(
  columns: readonly TableColumn[],
  row: (object: Loose<T>, now: number) => readonly unknown[],
  conditions?: (object: Loose<T>) => readonly TableRowCondition[] | undefined,
): TableDefinition {
  // The one place that says so: tables are looked up by resource, whose objects are of the printer's kind.
  const typed = (object: MutableObject): Loose<T> => object as unknown as Loose<T>
  return {
    columns,
    row: (object, now) => row(typed(object), now),
    ...(conditions ? { conditions: (object: MutableObject) => conditions(typed(object)) } : {}),
  }
}
