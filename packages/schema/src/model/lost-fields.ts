import type { JSONSchemaProps } from './json-schema.ts'

/** A field whose value does not survive when an API server changes only the apiVersion of an object. */
export interface LostField {
  /** `spec.size`, `spec.ports[].name`, `spec.labels{}` for the entries of a map, `spec.*` for unknown fields. */
  readonly path: string
  /** Present if both schemas have the field, with types that exclude each other: `string, not integer`. */
  readonly types?: string | undefined
}

// Every version has them, and the API server maintains them.
const sharedFields = ['apiVersion', 'kind', 'metadata']

/**
 * The fields of objects of one schema that another schema prunes or rejects, at the highest level: if `spec.tls` is
 * lost, `spec.tls.secret` is not listed. Differences that lose no value, such as defaults, bounds and descriptions, are
 * ignored. Both schemas must be structural schemas of whole objects.
 */
export function lostFields(from: JSONSchemaProps, to: JSONSchemaProps): LostField[] {
  const lost: LostField[] = []
  compareFields(from, to, '', lost)
  return lost.filter(({ path }) => !sharedFields.includes(path.split('.', 1)[0]!))
}

function compare(from: JSONSchemaProps, to: JSONSchemaProps, path: string, lost: LostField[]): void {
  const [before, after] = [typeOf(from), typeOf(to)]
  if (!fits(before, after)) {
    lost.push({ path, types: `${before}, not ${after}` })
    return
  }
  if (from.items !== undefined && to.items !== undefined) compare(from.items, to.items, `${path}[]`, lost)
  compareFields(from, to, path, lost)
}

function compareFields(from: JSONSchemaProps, to: JSONSchemaProps, path: string, lost: LostField[]): void {
  const at = (field: string): string => (path === '' ? field : `${path}.${field}`)
  const { additionalProperties: entries = false } = to
  for (const [field, schema] of Object.entries(from.properties ?? {})) {
    const target = Object.hasOwn(to.properties ?? {}, field) ? to.properties![field] : entries
    if (typeof target === 'object') compare(schema, target, at(field), lost)
    else if (target !== true && !preserves(to)) lost.push({ path: at(field) })
  }
  const { additionalProperties: had = false } = from
  if (had !== false && entries === false && !preserves(to)) lost.push({ path: `${path}{}` })
  else if (typeof had === 'object' && typeof entries === 'object') compare(had, entries, `${path}{}`, lost)
  else if (preserves(from) && !preserves(to) && entries === false) lost.push({ path: at('*') })
}

const preserves = (schema: JSONSchemaProps): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

function typeOf(schema: JSONSchemaProps): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string'
  return schema.type ?? 'any'
}

/** Whether every value of one type is a value of the other. */
function fits(from: string, to: string): boolean {
  if (from === to || to === 'any') return true
  if (to === 'integer or string') return from === 'integer' || from === 'string'
  return from === 'integer' && to === 'number'
}
