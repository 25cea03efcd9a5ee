import { type AnyKind, defineResource, type ResolvedColumn } from '@kubewright/api'
import { type Schema, s } from '@kubewright/schema'
import type { PlannedField, PlannedVersion, ResourcePlan } from './plan-resource.ts'

type AnySchema = Schema<unknown, unknown>

/** The Kind that the generated module evaluates to. Throws a TypeError if `defineResource` rejects it. */
export function plannedKind({ names, versions }: ResourcePlan): AnyKind {
  // The schemas are built from data, so their static types are unknown.
  const define = defineResource as unknown as (definition: object) => AnyKind
  return define({
    ...names,
    versions: Object.fromEntries(versions.map((version) => [version.name, optionsOf(version)])),
  })
}

function optionsOf(version: PlannedVersion): object {
  const { name: _, spec, status, fields, objectName, columns, ...rest } = version
  return {
    ...rest,
    ...(spec === undefined ? {} : { spec: schemaOf(spec) }),
    ...(status === undefined ? {} : { status: schemaOf(status) }),
    ...(objectName === undefined ? {} : { objectName: schemaOf(objectName) }),
    fields: Object.fromEntries(Object.entries(fields).map(([field, planned]) => [field, schemaOf(planned)])),
    columns: Object.fromEntries(columns.map((column) => [column.name, columnOptions(column)])),
  }
}

/** A column as an option of `defineResource`. */
export function columnOptions({ name: _, ...column }: ResolvedColumn): Omit<ResolvedColumn, 'name'> {
  return column
}

function schemaOf({ json, optional }: PlannedField): AnySchema {
  const { default: value, ...rest } = json
  const schema: AnySchema = s.raw<unknown>(rest)
  if (value !== undefined && value !== null) return schema.default(value)
  return optional ? schema.optional() : schema
}
