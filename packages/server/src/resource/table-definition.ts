import type { MutableObject } from './object.ts'

/** A column of `kubectl get`. */
export interface TableColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string | undefined
  readonly description?: string | undefined
  readonly priority?: number | undefined
}

/** A condition of the object of a row, such as Completed. */
export interface TableRowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** The columns and rows of a resource for `kubectl get`. */
export interface TableDefinition {
  readonly columns: readonly TableColumn[]
  readonly row: (object: MutableObject, now: number) => readonly unknown[]
  /** Conditions by which clients hide or mark a row. */
  readonly conditions?: ((object: MutableObject) => readonly TableRowCondition[] | undefined) | undefined
  /** Whether the rows of an empty list are null instead of an empty array. @default false */
  readonly nullRows?: boolean | undefined
  /** Whether every event of a watch repeats the columns, and not only the first. @default false */
  readonly repeatColumns?: boolean | undefined
}
