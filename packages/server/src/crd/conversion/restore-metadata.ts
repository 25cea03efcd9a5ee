import { CaughtError, deepCopy, isJsonObject } from '@kubewright/base'
import { FieldPath, validateAnnotations, validateLabels } from '@kubewright/schema'
import { aggregateMessages } from '../../request/aggregate-messages.ts'
import type { MutableMeta, MutableObject } from '../../resource/object.ts'

const metadataPath = FieldPath.of('metadata')

/** Throws when a webhook has changed the identity of an object. */
export function checkSameObject(original: MutableObject, converted: MutableObject): void {
  const before = original.metadata ?? {}
  const after = (converted.metadata ?? {}) as MutableMeta
  const pairs = [
    ['kind', original.kind, converted.kind],
    ['name', before.name, after.name],
    ['namespace', before.namespace, after.namespace],
    ['UID', before.uid, after.uid],
  ] as const
  for (const [what, expected = '', given] of pairs) {
    // A value that is no string counts as absent, as in Go's unstructured helpers.
    const got = typeof given === 'string' ? given : ''
    if (expected !== got) throw new CaughtError(`must have the same ${what}: ${expected} != ${got}`)
  }
}

/** Restores the metadata of a converted object except for labels and annotations, which a webhook may change. */
export function restoreMetadata(original: MutableObject, converted: MutableObject): void {
  const given: unknown = converted.metadata
  if (given === undefined) throw new CaughtError('missing metadata in converted object')
  if (!isJsonObject(given)) throw new CaughtError(`invalid metadata of type ${goTypeOf(given)} in converted object`)
  const metadata: MutableMeta = deepCopy(original.metadata ?? {})
  for (const field of ['labels', 'annotations'] as const) {
    const values = given[field]
    if (values === undefined || values === null) {
      delete metadata[field]
      continue
    }
    if (!isJsonObject(values))
      throw new CaughtError(`invalid metadata.${field} of type ${goTypeOf(values)} in converted object`)
    const checked = stringsIn(values, field)
    // Unchanged values are not validated: they may be older than today's rules.
    if (!sameMap(metadata[field] ?? {}, checked)) {
      const errors =
        field === 'labels'
          ? validateLabels(checked, metadataPath.child('labels'))
          : validateAnnotations(checked, metadataPath.child('annotation'))
      if (errors.length > 0) throw new CaughtError(aggregateMessages(errors.map(String)))
    }
    metadata[field] = checked
  }
  converted.metadata = metadata
}

function stringsIn(values: Record<string, unknown>, field: string): Record<string, string> {
  for (const [key, value] of Object.entries(values)) {
    if (typeof value !== 'string') {
      throw new CaughtError(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`)
    }
  }
  return values as Record<string, string>
}

function sameMap(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(b)
  return keys.length === Object.keys(a).length && keys.every((key) => a[key] === b[key])
}

/** The type of a decoded JSON value as Go prints it. */
function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    case 'bigint':
      return 'int64'
    default:
      return 'string'
  }
}
