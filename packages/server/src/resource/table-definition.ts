import type { MutableObject } from './object.ts'

/** A column of `kubectl get`. */
export interface TableColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

/** Something that holds for the object of a row, such as that it has completed. */
export interface TableRowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
}

/** How objects of a resource look as table rows. */
export interface TableDefinition {
  readonly columns: readonly TableColumn[]
  readonly row: (object: MutableObject, now: number) => readonly unknown[]
  /** What clients may hide or mark a row by. */
  readonly conditions?: (object: MutableObject) => readonly TableRowCondition[] | undefined
  /** A list without objects has `null` for its rows instead of an empty list. @default false */
  readonly nullRows?: boolean
  /** Every event of a watch repeats the columns, not only the first. @default false */
  readonly repeatColumns?: boolean
}
