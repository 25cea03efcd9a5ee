import { ApiSyntaxError, JsonPath } from '@kubewright/api'
import { parseRFC3339 } from '@kubewright/base'
import type { MutableObject } from '../resource/object.ts'
import type { TableColumn, TableDefinition } from '../resource/table-definition.ts'
import { nameDefinition } from './columns.ts'
import { ageOf } from './human.ts'

/** A printer column of a custom resource definition. */
export interface CustomColumn {
  readonly name: string
  readonly type: string
  readonly format?: string | undefined
  readonly description?: string | undefined
  readonly priority?: number | undefined
  /** Such as `.spec.replicas`. */
  readonly jsonPath: string
}

const creationColumn: CustomColumn = {
  name: 'Age',
  type: 'date',
  description: 'Time of the creation of the object.',
  jsonPath: '.metadata.creationTimestamp',
}

/**
 * The table of custom resources: the name and the printer columns of the definition, or name and age without any. As in kube-apiserver,
 * the table ends before a column with a malformed path.
 */
export function customTable(columns: readonly CustomColumn[] | null | undefined): TableDefinition {
  const shown: TableColumn[] = [nameDefinition]
  const cells: Cell[] = []
  for (const column of columns?.length ? columns : [creationColumn]) {
    const path = parsePath(column.jsonPath)
    if (!path) break
    cells.push(cellOf(path, column.type))
    shown.push({
      name: column.name,
      type: column.type as TableColumn['type'],
      format: column.format ?? '',
      description: column.description || `Value at ${column.jsonPath}.`,
      priority: column.priority ?? 0,
    })
  }
  return {
    columns: shown,
    row: (object, now) => [object.metadata.name ?? '', ...cells.map((cell) => cell(object, now))],
  }
}

/** The table of the scale subresource of custom resources. `paths` are those of the definition. */
export function customScaleTable(paths: {
  readonly specReplicasPath?: string | undefined
  readonly statusReplicasPath?: string | undefined
}): TableDefinition {
  const columns: CustomColumn[] = []
  if (paths.specReplicasPath) {
    const description = 'Number of replicas that should run.'
    columns.push({ name: 'Desired', type: 'integer', description, jsonPath: '.spec.replicas' })
  }
  if (paths.statusReplicasPath) {
    const description = 'Number of replicas that run.'
    columns.push({ name: 'Available', type: 'integer', description, jsonPath: '.status.replicas' })
  }
  return customTable([...columns, creationColumn])
}

type Cell = (object: MutableObject, now: number) => unknown

function parsePath(path: string): JsonPath | undefined {
  try {
    return new JsonPath(`{${path}}`, { allowMissingKeys: true })
  } catch (error) {
    if (error instanceof ApiSyntaxError) return undefined
    throw error
  }
}

/** Returns the first value at the path, converted to the type of the column; null if there is none or its type differs. */
function cellOf(path: JsonPath, type: string): Cell {
  const convert = (Object.hasOwn(conversions, type) && conversions[type]) || (() => null)
  return (object, now) => {
    const value = firstOf(path, object)
    return value === undefined ? null : convert(value, now)
  }
}

function firstOf(path: JsonPath, object: MutableObject): unknown {
  try {
    return path.find(object)[0]?.[0]
  } catch (error) {
    // For example an index out of bounds, or a filter on a value that is no list.
    if (error instanceof ApiSyntaxError) return undefined
    throw error
  }
}

const wholeValue = new JsonPath('{$}')

const conversions: Readonly<Record<string, (value: unknown, now: number) => unknown>> = {
  integer: (value) => (typeof value === 'number' ? integerOf(value) : typeof value === 'bigint' ? value : null),
  number: (value) => (typeof value === 'number' || typeof value === 'bigint' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  string: (value) => (value === null ? '<no value>' : wholeValue.render(value)),
  date: (value, now) => (typeof value === 'string' ? dateText(value, now) : null),
}

/** Truncates a number as Go's conversion to int64 does: numbers out of range become the smallest integer. */
function integerOf(value: number): number | bigint {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2n ** 63n)
}

function dateText(value: string, now: number): string {
  // As in apimachinery: both texts stand for a missing time.
  if (value === '' || value === 'null') return '<unknown>'
  try {
    parseRFC3339(value)
  } catch {
    return '<invalid>'
  }
  return ageOf(value, now)
}
