import { CaughtError } from '@kubewright/base'
import { FieldSet } from '../fieldset/field-set.ts'
import { fieldSetOf } from './field-set-of.ts'
import type { VersionedSet } from './managed-fields.ts'
import type { ObjectVersions, TypedValue } from './object-versions.ts'
import { withNamedFields } from './reconcile-schema.ts'
import { removeItems } from './remove-items.ts'

/**
 * Removes the fields that a manager applied last time (`last`) and omits now. Two kinds of fields stay: those that a manager owns,
 * including what the manager applies now, and those that `last` did not own. Ownership is judged in the version of each manager, because a
 * field may have another name there.
 */
export function pruneOmitted(
  versions: ObjectVersions,
  merged: TypedValue,
  last: VersionedSet,
  managers: Iterable<VersionedSet>,
): TypedValue {
  const failure = 'failed to prune fields'
  const whole = versions.to(
    merged,
    last.apiVersion,
    `${failure}: failed to convert merged object to last applied version`,
  )
  if (whole === undefined) return merged
  const candidates = withNamedFields(last.set, whole.type)
  const stripped = { ...whole, value: removeItems(whole.type, whole.value, candidates) }
  const owned = keepOwned(versions, whole, stripped, ownedByVersion(managers, last.apiVersion))
  const remaining = versions.to(
    owned,
    whole.apiVersion,
    `${failure}: failed add back dangling items: failed to convert pruned object to last applied version`,
  )
  const pruned =
    remaining === undefined ? whole : keepOnly(whole, fieldsOf(remaining), fieldsOf(whole).difference(candidates))
  const result = versions.to(pruned, merged.apiVersion, failure)
  if (result === undefined) throw new CaughtError(`${failure}: no corresponding type for ${merged.apiVersion}`)
  return result
}

/** All owned fields by version. The given version comes first: the stripped object may lack fields that a conversion requires. */
function ownedByVersion(managers: Iterable<VersionedSet>, first: string): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet>()
  const rank = ({ apiVersion }: VersionedSet): number => (apiVersion === first ? 0 : 1)
  for (const { apiVersion, set } of [...managers].sort((a, b) => rank(a) - rank(b))) {
    owned.set(apiVersion, (owned.get(apiVersion) ?? FieldSet.empty).union(set))
  }
  return owned
}

/** Returns to the stripped object the fields of the whole one that managers own, version by version. */
function keepOwned(
  versions: ObjectVersions,
  whole: TypedValue,
  stripped: TypedValue,
  owned: ReadonlyMap<string, FieldSet>,
): TypedValue {
  let [from, kept] = [whole, stripped]
  for (const [apiVersion, set] of owned) {
    const failure = (what: string): string =>
      `failed to prune fields: failed add back owned items: failed to convert ${what} object at version ${apiVersion}`
    const source = versions.to(from, apiVersion, failure('merged'))
    if (source === undefined) continue
    from = source
    const target = versions.to(kept, apiVersion, failure('pruned'))
    if (target !== undefined) kept = keepOnly(source, fieldsOf(target), withNamedFields(set, source.type))
  }
  return kept
}

/** The object without the fields that are in neither set. */
function keepOnly(object: TypedValue, some: FieldSet, others: FieldSet): TypedValue {
  const dropped = fieldsOf(object).difference(some.union(others))
  return { ...object, value: removeItems(object.type, object.value, dropped) }
}

function fieldsOf({ type, value }: TypedValue): FieldSet {
  return withNamedFields(fieldSetOf(type, value), type)
}
