import { compareUtf8, deepEqual } from '@kubewright/base'
import type { FieldSet } from '../fieldset/field-set.ts'
import { ApplyConflicts } from './conflict.ts'
import { fieldSetOf } from './field-set-of.ts'
import type { VersionedSet } from './managed-fields.ts'
import { mergeTyped } from './merge-typed.ts'
import { ObjectChange, type ObjectVersions, type TypedValue } from './object-versions.ts'
import { pruneOmitted } from './prune-omitted.ts'
import { reconcileWithSchema } from './reconcile-schema.ts'

// Who owns which field after a write. The rules are those of structured-merge-diff (merge/update.go), which kube-apiserver uses.

/** Managers by identifier. Operations return a new map and never modify the caller's. */
export type Managers = ReadonlyMap<string, VersionedSet>

/** The result of {@link trackUpdate}. */
export interface TrackedUpdate {
  /** The managers without the fields that the update set, changed or removed. */
  readonly managers: Map<string, VersionedSet>
  /** The fields that the update set or changed, in the version of the object. Its author owns them from now on. */
  readonly written: FieldSet
}

/** Computes the ownership after an update replaced `live` by `next`. */
export function trackUpdate(
  versions: ObjectVersions,
  live: TypedValue,
  next: TypedValue,
  managers: Managers,
): TrackedUpdate {
  const change = new ObjectChange(versions, live, next)
  const { remaining } = takeFields(change, currentManagers(versions, live, managers))
  return { managers: remaining, written: change.written }
}

/** A server-side apply. */
export interface ApplyRequest {
  readonly live: TypedValue
  readonly config: TypedValue
  readonly managers: Managers
  /** The identifier of the applying manager. */
  readonly manager: string
  /** Whether the apply may change fields of other managers. */
  readonly force: boolean
}

/** The result of {@link applyConfig}. */
export interface AppliedConfig {
  /** The merged object; the live value itself when the apply changes nothing. */
  readonly value: unknown
  readonly managers: Map<string, VersionedSet>
}

/**
 * Merges `config` into `live` on behalf of `manager`, which then owns the fields of the configuration. Fields that it applied before and
 * omits now are removed, unless other managers own them too. Throws {@link ApplyConflicts} unless `force`.
 */
export function applyConfig(versions: ObjectVersions, request: ApplyRequest): AppliedConfig {
  const { live, config, manager, force } = request
  const { apiVersion, type } = config
  const merged: TypedValue = { value: mergeTyped(type, live.value, config.value), type, apiVersion }
  const managers = currentManagers(versions, live, request.managers)
  const last = managers.get(manager)
  const own = { set: versions.ownable(apiVersion, fieldSetOf(type, config.value)), apiVersion, applied: true }
  managers.set(manager, own)
  const next = omits(own, last) ? pruneOmitted(versions, merged, last, managers.values()) : merged
  const { remaining, taken } = takeFields(new ObjectChange(versions, live, next), managers, manager)
  if (!force && taken.size > 0) throw new ApplyConflicts(conflictsOf(taken))
  // A conversion to another version and back creates an equal copy; callers detect a no-op by identity.
  const isSame = next.value === live.value || deepEqual(next.value, live.value)
  return { value: isSame ? live.value : next.value, managers: remaining }
}

/** Whether the manager may omit a field that it applied last time. In another version, the conversion could lose fields. */
function omits(own: VersionedSet, last: VersionedSet | undefined): last is VersionedSet {
  if (last === undefined || last.set.isEmpty) return false
  return last.apiVersion !== own.apiVersion || !last.set.isSubsetOf(own.set)
}

/** The managers of versions that still exist, adapted to changes of the schema. */
function currentManagers(versions: ObjectVersions, live: TypedValue, managers: Managers): Map<string, VersionedSet> {
  const current = new Map<string, VersionedSet>()
  for (const [manager, versioned] of managers) {
    const object = versions.to(live, versioned.apiVersion)
    if (object !== undefined) current.set(manager, withSet(versioned, reconcileWithSchema(versioned.set, object.type)))
  }
  return current
}

/**
 * Takes the changed and removed fields from all managers but the author of the change. `taken` are the changed fields by their previous
 * owner. Managers that own nothing any more, and managers of versions that no longer exist, are dropped.
 */
function takeFields(
  change: ObjectChange,
  managers: Managers,
  author?: string,
): { readonly remaining: Map<string, VersionedSet>; readonly taken: Map<string, FieldSet> } {
  const remaining = new Map<string, VersionedSet>()
  const taken = new Map<string, FieldSet>()
  for (const [manager, versioned] of managers) {
    let { set } = versioned
    if (manager !== author) {
      const seen = change.in(versioned.apiVersion)
      if (seen === undefined) continue
      const lost =
        seen.modified.isEmpty && seen.added.isEmpty ? undefined : set.intersection(seen.modified.union(seen.added))
      if (lost !== undefined && !lost.isEmpty) {
        taken.set(manager, lost)
        set = set.difference(lost)
      }
      set = set.difference(seen.removed)
    }
    if (!set.isEmpty) remaining.set(manager, withSet(versioned, set))
  }
  return { remaining, taken }
}

function withSet(versioned: VersionedSet, set: FieldSet): VersionedSet {
  return set === versioned.set ? versioned : { ...versioned, set }
}

function conflictsOf(taken: ReadonlyMap<string, FieldSet>): ApplyConflicts['conflicts'] {
  const owners = [...taken.keys()].sort(compareUtf8)
  return owners.flatMap((manager) =>
    taken
      .get(manager)!
      .paths()
      .map((path) => ({ manager, path })),
  )
}
