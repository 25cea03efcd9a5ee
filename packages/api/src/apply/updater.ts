import { compareUtf8, deepEqual } from '@kubewright/base'
import { FieldSet } from '../fieldset/field-set.ts'
import type { FieldSetFilter } from '../fieldset/field-set-filter.ts'
import { type Comparison, compareTyped } from './compare.ts'
import { ApplyConflicts, type Conflict } from './conflict.ts'
import { fieldSetOf } from './field-set-of.ts'
import type { VersionedSet } from './managed-fields.ts'
import { mergeTyped } from './merge-typed.ts'
import { reconcileWithSchema, withNamedFields } from './reconcile-schema.ts'
import { removeItems } from './remove-items.ts'
import type { TypeNode } from './type-node.ts'
import { TypedValueError } from './validate-typed.ts'

/** A value with its type and API version. */
export interface TypedValue {
  readonly value: unknown
  readonly type: TypeNode
  readonly apiVersion: string
}

/** Converts a value to another version; undefined when that version no longer exists. */
export type ConvertTyped = (object: TypedValue, apiVersion: string) => TypedValue | undefined

/** Managers by identifier. Operations work on a copy and never modify the caller's map. */
export type Managers = ReadonlyMap<string, VersionedSet>

/** The result of an operation. */
export interface UpdateResult {
  readonly value: unknown
  readonly managers: Map<string, VersionedSet>
}

/**
 * Computes the ownership after an update, and the merged object and its ownership after an apply (merge.Updater in
 * structured-merge-diff).
 */
export class Updater {
  readonly #convert: ConvertTyped
  readonly #filters: ReadonlyMap<string, FieldSetFilter>

  constructor(convert: ConvertTyped, filters: ReadonlyMap<string, FieldSetFilter>) {
    this.#convert = convert
    this.#filters = filters
  }

  /**
   * The managers after `manager` replaced `live` by `next`: it owns the fields that it changed, and the others lose
   * them.
   */
  update(live: TypedValue, next: TypedValue, managers: Managers, manager: string): UpdateResult {
    const { apiVersion } = next
    const current = this.#reconcile(live, managers)
    const comparison = this.#settle(live, next, current, manager, true)
    const before = current.get(manager)?.set ?? FieldSet.empty
    const owned = before.difference(comparison.removed).union(comparison.modified).union(comparison.added)
    const set = this.#filter(apiVersion, owned)
    if (set.isEmpty) current.delete(manager)
    else current.set(manager, { set, apiVersion, applied: false })
    return { value: next.value, managers: current }
  }

  /**
   * Merges `config` into `live` on behalf of `manager`, which then owns the fields of the configuration. Fields that it
   * applied before and omits now are removed, unless other managers own them too. Throws {@link ApplyConflicts} unless
   * `force`. The result is `live.value` itself when it is equal.
   */
  apply(live: TypedValue, config: TypedValue, managers: Managers, manager: string, force: boolean): UpdateResult {
    const { apiVersion, type } = config
    const current = this.#reconcile(live, managers)
    const merged: TypedValue = { value: mergeTyped(type, live.value, config.value), type, apiVersion }
    const last = current.get(manager)
    const set = this.#filter(apiVersion, fieldSetOf(type, config.value))
    current.set(manager, { set, apiVersion, applied: true })
    const pruned = this.#prune(merged, current, manager, last)
    this.#settle(live, pruned, current, manager, force)
    // Converting back and forth creates equal copies; callers detect a no-op by identity.
    const same = pruned.value === live.value || deepEqual(pruned.value, live.value)
    return { value: same ? live.value : pruned.value, managers: current }
  }

  /** Converts the value. When the result does not match the schema of that version, prefixes the error with `failure`. */
  #converted(failure: string, object: TypedValue, apiVersion: string): TypedValue | undefined {
    try {
      return this.#convert(object, apiVersion)
    } catch (error) {
      if (!(error instanceof TypedValueError)) throw error
      throw new TypedValueError([`${failure}: ${error.message}`])
    }
  }

  #filter(apiVersion: string, set: FieldSet): FieldSet {
    return this.#filters.get(apiVersion)?.(set) ?? set
  }

  /** Adapts the managers to schema changes and drops managers of versions that no longer exist. */
  #reconcile(live: TypedValue, managers: Managers): Map<string, VersionedSet> {
    const result = new Map<string, VersionedSet>()
    for (const [manager, versioned] of managers) {
      const object = this.#convert(live, versioned.apiVersion)
      if (object === undefined) continue
      const set = reconcileWithSchema(versioned.set, object.type)
      result.set(manager, set === versioned.set ? versioned : { ...versioned, set })
    }
    return result
  }

  #compare(before: TypedValue, after: TypedValue): Comparison {
    const comparison = compareTyped(before.type, before.value, after.value)
    const filter = this.#filters.get(before.apiVersion)
    if (filter === undefined) return comparison
    const { removed, modified, added } = comparison
    return { removed: filter(removed), modified: filter(modified), added: filter(added) }
  }

  /**
   * Removes from the other managers, in place, the fields that `manager` changed. Without force, throws
   * {@link ApplyConflicts} when there are any. Returns the change.
   */
  #settle(
    before: TypedValue,
    after: TypedValue,
    managers: Map<string, VersionedSet>,
    manager: string,
    force: boolean,
  ): Comparison {
    const comparisons = new Map<string, Comparison>([[after.apiVersion, this.#compare(before, after)]])
    const lost: [manager: string, versioned: VersionedSet, conflicts: FieldSet, removed: FieldSet][] = []
    for (const [other, versioned] of managers) {
      if (other === manager) continue
      let comparison = comparisons.get(versioned.apiVersion)
      if (comparison === undefined) {
        const old = this.#converted('failed to convert old object', before, versioned.apiVersion)
        const next = old && this.#converted('failed to convert new object', after, versioned.apiVersion)
        if (next === undefined) {
          managers.delete(other)
          continue
        }
        comparison = this.#compare(old as TypedValue, next)
        comparisons.set(versioned.apiVersion, comparison)
      }
      const { modified, added, removed } = comparison
      if (modified.isEmpty && added.isEmpty && removed.isEmpty) continue
      lost.push([other, versioned, versioned.set.intersection(modified.union(added)), removed])
    }
    if (!force) rejectConflicts(lost)
    for (const [other, versioned, conflicts, removed] of lost) {
      const set = versioned.set.difference(conflicts).difference(removed)
      if (set !== versioned.set) managers.set(other, { ...versioned, set })
    }
    for (const [other, { set }] of managers) if (set.isEmpty) managers.delete(other)
    return comparisons.get(after.apiVersion) as Comparison
  }

  #prune(merged: TypedValue, managers: Managers, manager: string, last: VersionedSet | undefined): TypedValue {
    if (last === undefined || last.set.isEmpty) return merged
    const own = managers.get(manager) as VersionedSet
    // Everything applied last time is applied again, so nothing is removed. With another version, conversion could
    // still lose fields.
    if (last.apiVersion === merged.apiVersion && last.set.isSubsetOf(own.set)) return merged
    return this.#pruneOmitted(merged, managers, own, last)
  }

  /** Removes the fields that the manager applied last time, omits now, and no other manager owns. */
  #pruneOmitted(merged: TypedValue, managers: Managers, own: VersionedSet, last: VersionedSet): TypedValue {
    const failure = 'failed to prune fields: failed to convert merged object to last applied version'
    const converted = this.#converted(failure, merged, last.apiVersion)
    if (converted === undefined) return merged
    const named = withNamedFields(last.set, converted.type)
    const value = removeItems(converted.type, converted.value, named)
    const withOwned = this.#addBackOwned(converted, { ...converted, value }, managers)
    const pruned = this.#addBackDangling(converted, withOwned, named)
    const result = this.#converted('failed to prune fields', pruned, own.apiVersion)
    if (result === undefined) throw new Error(`failed to prune fields: no corresponding type for ${own.apiVersion}`)
    return result
  }

  /**
   * Adds back removed fields that any manager owns. Starts with the version of the removal, because the others convert
   * from it.
   */
  #addBackOwned(merged: TypedValue, pruned: TypedValue, managers: Managers): TypedValue {
    const owned = new Map<string, FieldSet>()
    const first = pruned.apiVersion
    if ([...managers.values()].some(({ apiVersion }) => apiVersion === first)) owned.set(first, FieldSet.empty)
    for (const { apiVersion, set } of managers.values()) {
      owned.set(apiVersion, (owned.get(apiVersion) ?? FieldSet.empty).union(set))
    }
    let all = merged
    let rest = pruned
    for (const [apiVersion, set] of owned) {
      const failure = (what: string): string =>
        `failed to prune fields: failed add back owned items: failed to convert ${what} object at version ${apiVersion}`
      const convertedAll = this.#converted(failure('merged'), all, apiVersion)
      const convertedRest = convertedAll && this.#converted(failure('pruned'), rest, apiVersion)
      if (convertedAll) all = convertedAll
      if (convertedAll === undefined || convertedRest === undefined) continue
      const { type, value } = convertedAll
      const present = withNamedFields(fieldSetOf(type, value), type)
      const kept = withNamedFields(fieldSetOf(type, convertedRest.value), type).union(withNamedFields(set, type))
      rest = { ...convertedAll, value: removeItems(type, value, present.difference(kept)) }
    }
    return rest
  }

  /** Adds back removed fields that `last` did not own: an apply must not remove fields without an owner. */
  #addBackDangling(merged: TypedValue, pruned: TypedValue, last: FieldSet): TypedValue {
    const failure =
      'failed to prune fields: failed add back dangling items: failed to convert pruned object to last applied version'
    const converted = this.#converted(failure, pruned, merged.apiVersion)
    if (converted === undefined) return merged
    const { type, value } = merged
    const present = withNamedFields(fieldSetOf(type, value), type)
    const kept = withNamedFields(fieldSetOf(type, converted.value), type)
    return { ...merged, value: removeItems(type, value, present.difference(kept).intersection(last)) }
  }
}

function rejectConflicts(
  lost: readonly [manager: string, versioned: VersionedSet, conflicts: FieldSet, ...unknown[]][],
): void {
  const conflicts: Conflict[] = []
  for (const [manager, , set] of [...lost].sort(([a], [b]) => compareUtf8(a, b))) {
    for (const path of set.paths()) conflicts.push({ manager, path })
  }
  if (conflicts.length > 0) throw new ApplyConflicts(conflicts)
}
