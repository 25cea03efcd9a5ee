import { deepEqual, isJsonObject, textOf } from '@kubewright/base'
import { type Json, listAt, objectAt } from '../cluster/json.ts'
import type { ChangeView, FieldChange } from '../wire/change-view.ts'
import { fieldChanges } from './field-changes.ts'
import type { RecordedObject, Recording, Version } from './recording.ts'

const maxFields = 12

/** The descriptions so far. A version never changes, and the one before it at most by a heartbeat. */
const described = new WeakMap<Version, ChangeView>()

/** Describes the change that led to a version of an object: the fields that changed, and who wrote them. */
export function describeChange(recording: Recording, object: RecordedObject, version: Version): ChangeView {
  const known = described.get(version)
  if (known !== undefined) return known
  const view = describe(recording, object, version)
  described.set(version, view)
  return view
}

function describe(recording: Recording, object: RecordedObject, version: Version): ChangeView {
  const { resource, namespace, name, versions } = object
  const { number, time, state } = version
  const earlier = versions[versions.indexOf(version) - 1]?.state
  const before = parsed(earlier)
  const after = parsed(state)
  const fields = after === undefined ? [] : before === undefined ? firstFields(after) : fieldChanges(before, after)
  const kind = recording.kinds.find((known) => known.group === resource.group && known.plural === resource.plural)
  return {
    number,
    time: new Date(time).toISOString(),
    type: state === undefined ? 'DELETED' : earlier === undefined ? 'ADDED' : 'MODIFIED',
    kind: kind?.kind ?? resource.plural,
    object: { resource, namespace, name },
    keys: keysOf(after ?? before ?? {}, namespace, name),
    managers: after === undefined ? [] : writers(before, after),
    fields: fields.slice(0, maxFields),
    moreFields: Math.max(0, fields.length - maxFields),
  }
}

/** The fields of a new object that say what it is about: of Events, the message. */
function firstFields(object: Json): FieldChange[] {
  const message = textOf(object['message'])
  return object['kind'] === 'Event' && message !== '' ? [{ path: textOf(object['reason']), after: message }] : []
}

function parsed(state: { readonly text: string } | undefined): Json | undefined {
  return state === undefined ? undefined : (JSON.parse(state.text) as Json)
}

/**
 * The managers whose entries in metadata.managedFields are new or differ, except those that only lost fields to another
 * manager. A second write of the same fields within a second leaves the entries as they are; then the managers that wrote
 * last.
 */
function writers(before: Json | undefined, after: Json): string[] {
  const [old, current] = [managersOf(before ?? {}), managersOf(after)]
  const newest = current
    .map((entry) => textOf(entry['time']))
    .sort()
    .at(-1)
  const changed = current.filter((entry) => !old.some((one) => deepEqual(one, entry) || hasOnlyLost(one, entry)))
  const written = changed.length > 0 ? changed : current.filter((entry) => entry['time'] === newest)
  return [...new Set(written.map((entry) => textOf(entry['manager'])).filter((name) => name !== ''))]
}

/** Whether an entry of a manager was left with fewer fields. The API server renews its time only when the manager writes. */
function hasOnlyLost(before: Json, after: Json): boolean {
  const isSame = ['manager', 'operation', 'subresource', 'time'].every((field) => before[field] === after[field])
  return isSame && isWithin(after['fieldsV1'], before['fieldsV1'])
}

/** Whether all fields of a field set are also in another one. */
function isWithin(fields: unknown, all: unknown): boolean {
  if (!isJsonObject(fields) || !isJsonObject(all)) return false
  return Object.entries(fields).every(([field, inner]) => field in all && isWithin(inner, all[field]))
}

const managersOf = (object: Json): Json[] => listAt(objectAt(object, 'metadata'), 'managedFields')

/** The keys of an object and of its owners in the queues of controllers. */
function keysOf(object: Json, namespace: string | undefined, name: string): string[] {
  const scope = namespace === undefined ? '' : `${namespace}/`
  const owners = listAt(objectAt(object, 'metadata'), 'ownerReferences').map((owner) => textOf(owner['name']))
  return [...new Set([name, ...owners].map((one) => `${scope}${one}`))]
}
