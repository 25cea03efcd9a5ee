import { encodeYaml, parseYaml } from '@kubewright/api'
import { deepEqual, isJsonObject } from '@kubewright/base'
import { type Json, objectAt } from './json.ts'

const maintained = ['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink']

/** The YAML that an edit starts from: without the status and the metadata that the server maintains. */
export function editText(object: Json): string {
  const { status: _, ...rest } = object
  const metadata = Object.entries(objectAt(object, 'metadata')).filter(([field]) => !maintained.includes(field))
  return encodeYaml({ ...rest, metadata: Object.fromEntries(metadata) })
}

/** Parses edited YAML. Throws if it is not an object. */
export function parseEdited(text: string): Json {
  const value = parseYaml(text)
  if (!isJsonObject(value))
    throw new TypeError('The text must be one object: fields such as apiVersion, kind and metadata')
  return value
}

/**
 * The configuration for a server-side apply: the fields that differ from the source, so that the console becomes owner
 * of these only. A changed list is sent whole, because its merge keys are not known here. Fields that were removed are
 * not part of it: server-side apply cannot remove the fields of other managers.
 */
export function changedFields(source: Json, edited: Json): Json {
  const { apiVersion, kind } = edited
  const { name, namespace } = objectAt(edited, 'metadata')
  const changes = changesOf(source, edited)
  const metadata = { ...objectAt(changes, 'metadata'), name, ...(namespace === undefined ? {} : { namespace }) }
  return { ...changes, apiVersion, kind, metadata }
}

function changesOf(before: Json, after: Json): Json {
  const changes: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(after)) {
    const old = before[field]
    if (Object.hasOwn(before, field) && deepEqual(old, value)) continue
    changes[field] = isJsonObject(value) && isJsonObject(old) ? changesOf(old, value) : value
  }
  return changes
}
