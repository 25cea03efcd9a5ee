import { CaughtError, compareUtf8, goQuote } from '@kubewright/base'
import { FieldSet, type FieldsV1 } from '../fieldset/field-set.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'

/** The fields that one manager owns, in the version in which it wrote. */
export interface VersionedSet {
  readonly set: FieldSet
  readonly apiVersion: string
  /** True when the manager applied, false when it updated. */
  readonly applied: boolean
}

/** The managers of an object by identifier, and the times of their last changes. */
export interface Managed {
  readonly fields: Map<string, VersionedSet>
  readonly times: Map<string, string | undefined>
}

/** The parts of a managedFields entry that identify a manager. */
export interface ManagerIdentity {
  readonly manager?: string | undefined
  readonly operation: 'Apply' | 'Update'
  /** Not part of an applier's identity: an applier is the same manager in every version. */
  readonly apiVersion?: string | undefined
  readonly subresource?: string | undefined
}

/** A new Managed without managers. */
export function emptyManaged(): Managed {
  return { fields: new Map(), times: new Map() }
}

/** The identifier of a manager. Entries with equal identifiers belong to the same manager. */
export function managerIdentifier({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const identity: Record<string, string> = {}
  if (manager) identity['manager'] = manager
  identity['operation'] = operation
  if (apiVersion && operation !== 'Apply') identity['apiVersion'] = apiVersion
  if (subresource) identity['subresource'] = subresource
  return JSON.stringify(identity)
}

// Caches the JSON of each set. A set that an operation does not change is written with the JSON from which it was decoded.
const encoded = new WeakMap<FieldSet, FieldsV1>()

// There are few distinct identifiers. The limit bounds memory against hostile input.
const identities = new Map<string, ManagerIdentity>()
const identitiesLimit = 4096

/** The identity from an identifier created by {@link managerIdentifier}. */
export function identityOf(identifier: string): ManagerIdentity {
  let identity = identities.get(identifier)
  if (identity === undefined) {
    // The identifier is JSON created by managerIdentifier.
    identity = JSON.parse(identifier) as ManagerIdentity
    if (identities.size >= identitiesLimit) identities.clear()
    identities.set(identifier, identity)
  }
  return identity
}

/**
 * Decodes managedFields. Throws an Error that names the problem and the entry. `stored` asserts that
 * {@link encodeManagedFields} wrote them; their canonical JSON is then reused instead of being encoded again.
 */
export function decodeManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, stored = false): Managed {
  const managed = emptyManaged()
  for (const [i, entry] of (entries ?? []).entries()) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      throw new CaughtError('operation must be `Apply` or `Update`')
    }
    if (!entry.apiVersion) throw new CaughtError('apiVersion must not be empty')
    if (!entry.fieldsType) throw new CaughtError(`missing fieldsType in managed fields entry ${i}`)
    if (entry.fieldsType !== 'FieldsV1') {
      throw new CaughtError(`invalid fieldsType ${goQuote(entry.fieldsType)} in managed fields entry ${i}`)
    }
    const { manager = '', operation, apiVersion, subresource = '' } = entry
    const identifier = managerIdentifier({ manager, operation, apiVersion, subresource })
    const set = FieldSet.parse(entry.fieldsV1)
    if (stored && entry.fieldsV1 !== undefined && !set.isEmpty) encoded.set(set, entry.fieldsV1 as FieldsV1)
    managed.fields.set(identifier, { set, apiVersion, applied: operation === 'Apply' })
    managed.times.set(identifier, entry.time)
  }
  return managed
}

/** Encodes managedFields in canonical order; undefined when there are no managers. */
export function encodeManagedFields(managed: Managed): ManagedFieldsEntry[] | undefined {
  if (managed.fields.size === 0) return undefined
  const entries: ManagedFieldsEntry[] = []
  for (const [identifier, { set, apiVersion, applied }] of managed.fields) {
    const identity = identityOf(identifier)
    const time = managed.times.get(identifier)
    let fieldsV1 = encoded.get(set)
    if (fieldsV1 === undefined) {
      fieldsV1 = set.toJSON()
      encoded.set(set, fieldsV1)
    }
    const operation = applied ? 'Apply' : identity.operation
    const fields = { fieldsType: 'FieldsV1', fieldsV1: fieldsV1 as Record<string, unknown> } as const
    const { manager, subresource } = identity
    // The usual entry as one literal: V8 takes ten times as long for one with spreads.
    const entry =
      manager !== undefined && time !== undefined
        ? { manager, operation, apiVersion, time, fieldsType: fields.fieldsType, fieldsV1: fields.fieldsV1 }
        : {
            ...(manager !== undefined && { manager }),
            operation,
            apiVersion,
            ...(time !== undefined && { time }),
            ...fields,
          }
    entries.push(subresource === undefined ? entry : { ...entry, subresource })
  }
  return entries.length > 1 ? entries.sort(compareEntries) : entries
}

/** Compares entries in canonical order: appliers before updaters, then by time, oldest first. */
function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareUtf8(a.operation ?? '', b.operation ?? '') ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareUtf8(a.manager ?? '', b.manager ?? '') ||
    compareUtf8(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareUtf8(a.subresource ?? '', b.subresource ?? '')
  )
}

/** The seconds since 1970; 0 for no time. Times in metadata have no fractions. */
export function secondsOf(time: string | undefined): number {
  if (time === undefined) return 0
  const millis = Date.parse(time)
  return Number.isNaN(millis) ? 0 : Math.floor(millis / 1000)
}

/** Throws an Error with Kubernetes' message when managedFields cannot be decoded. */
export function validateManagedFieldsEntries(entries: readonly ManagedFieldsEntry[] | undefined): void {
  decodeManagedFields(entries)
}
