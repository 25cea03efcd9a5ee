import { newConflict, newInvalid } from '@kubewright/api'
import { append, formatRFC3339, goSecondsToMillis, instantFromMillis, parseRFC3339 } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, notSupported } from '@kubewright/schema'
import { validateDryRun } from '../request/write-options.ts'
import type { MutableObject } from '../resource/object.ts'
import { encodeStored, StoredObject } from '../resource/stored-object.ts'
import type { Strategy } from '../resource/strategy.ts'
import { foregroundFinalizer, orphanFinalizer } from '../resource/validate-object-meta.ts'
import type { ObjectRegistry } from './object-registry.ts'
import { groupResourceOf, type WriteScope } from './write-scope.ts'

/** The options of a delete request. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined
  readonly propagationPolicy?: string | undefined
  readonly orphanDependents?: boolean | undefined
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined
  readonly dryRun?: readonly string[] | undefined
  /** Deletes an object that cannot be read, without regard to preconditions, grace period and finalizers. */
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined
}

/** What a delete has done: removed the object, or marked it for others to remove. */
export interface DeleteOutcome {
  readonly object: StoredObject
  readonly removed: boolean
  /** Whether the object could not be read. `object` has nothing but its name then. */
  readonly wasUnreadable?: boolean | undefined
}

/** What a delete will do to an object. */
export interface DeletionPlan {
  /**
   * - `none`: nothing, because the object is on its way out already; admission does not see the request
   * - `keep`: nothing, but admission sees the request
   * - `mark`: stores the object with its deletion marks; a controller or a node removes it later
   * - `remove`: removes the object
   * - `mark-and-remove`: stores the marks and removes the object then, so that watchers see both
   */
  readonly action: 'none' | 'keep' | 'mark' | 'remove' | 'mark-and-remove'
  /** The object in its stored form, with the deletion marks. */
  readonly object: MutableObject
  /** The grace period that the kind has set. */
  readonly gracePeriodSeconds?: number | undefined
  /** Set if the policy removes the last finalizer of an object that has no grace period. */
  readonly dropsLastFinalizer?: { readonly hasVersion: boolean } | undefined
}

/** Checks the options by themselves (meta/v1/validation.ValidateDeleteOptions). */
export function validateDeleteOptions(options: DeleteOptions): void {
  const errors: FieldError[] = []
  if (options.propagationPolicy !== undefined && options.orphanDependents !== undefined) {
    const text = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalid(FieldPath.of('propagationPolicy'), options.propagationPolicy, text))
  }
  if (
    options.propagationPolicy !== undefined &&
    !['Foreground', 'Background', 'Orphan'].includes(options.propagationPolicy)
  ) {
    const known = ['Foreground', 'Background', 'Orphan', 'nil']
    errors.push(notSupported(FieldPath.of('propagationPolicy'), options.propagationPolicy, known))
  }
  append(errors, validateDryRun(options.dryRun ?? []))
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
}

/**
 * Decides what a delete does to an object (registry/generic/registry/store.go, Delete). Changes nothing but its own copy of the
 * object. Throws a Conflict when a precondition fails.
 */
export function planDeletion(
  registry: ObjectRegistry,
  scope: WriteScope,
  existing: StoredObject,
  options: DeleteOptions,
): DeletionPlan {
  const { strategy } = scope
  const now = registry.clock.now()
  const object = existing.copy()
  checkPreconditions(scope, object, options)
  const begun = strategy.beginDelete?.(object, now) ?? 'continue'
  if (begun === 'pending') return { action: 'none', object }
  if (begun === 'mark' || begun === 'mark-only') {
    if (begun === 'mark') setPropagationFinalizers(object, options, strategy)
    object.metadata.deletionTimestamp = formatRFC3339(instantFromMillis(now))
    return { action: 'mark', object }
  }
  const timing = setGracePeriod(object, options, strategy.gracePeriod, now)
  if (timing === 'pending') return { action: 'none', object }
  const gracePeriodSeconds = timing === 'graceful' ? object.metadata.deletionGracePeriodSeconds : undefined
  const finalizersChanged = setPropagationFinalizers(object, options, strategy)
  const hasFinalizers = (object.metadata.finalizers ?? []).length > 0
  if (timing === 'now' && hasFinalizers) markAsDeleting(object, now)
  if (!hasFinalizers && timing === 'now') {
    const dropped = { dropsLastFinalizer: { hasVersion: options.preconditions?.resourceVersion !== undefined } }
    return { action: 'remove', object, gracePeriodSeconds, ...(finalizersChanged ? dropped : {}) }
  }
  if (!hasFinalizers && object.metadata.deletionGracePeriodSeconds === 0) {
    return { action: 'mark-and-remove', object, gracePeriodSeconds }
  }
  const isMarked = existing.object.metadata.deletionTimestamp !== undefined
  const action = timing === 'now' && !finalizersChanged && isMarked ? 'keep' : 'mark'
  return { action, object, gracePeriodSeconds }
}

/**
 * Carries out a plan that was made for `existing`. Returns undefined when another write came first: a new plan is needed then. The
 * object itself has not been removed, although a `mark-and-remove` may have stored the marks.
 */
export async function commitDeletion(
  registry: ObjectRegistry,
  scope: WriteScope,
  existing: StoredObject,
  { action, object, dropsLastFinalizer }: DeletionPlan,
): Promise<DeleteOutcome | undefined> {
  if (dropsLastFinalizer) {
    // kube-apiserver removes the finalizer without storing the object, and continues with an object that it has not read: a dry run responds
    // with it, and its version never fits a precondition.
    if (scope.dryRun) return { object: emptyObject(scope, existing), removed: false }
    const { name = '', resourceVersion = '' } = existing.object.metadata
    if (dropsLastFinalizer.hasVersion) {
      throw registry.preconditionConflict(scope, name, 'ResourceVersion', '', resourceVersion)
    }
  }
  if (action === 'none' || action === 'keep') return { object: existing, removed: false }
  const last = action === 'remove' ? existing : await storeMarks(registry, scope, existing, object)
  if (!last) return undefined
  if (action === 'mark') return { object: last, removed: false }
  if (scope.dryRun) return { object: last, removed: true }
  const result = await registry.store.delete(last.key, last.revision)
  if (!result.ok) return undefined
  await scope.strategy.afterDelete?.(object, registry.strategyContext(scope))
  return { object: last.at(result.revision), removed: true }
}

function emptyObject({ resource }: WriteScope, { key }: StoredObject): StoredObject {
  const { apiVersion, kind } = resource.kind
  const object = resource.codec.empty?.() ?? { apiVersion, kind, metadata: {} }
  return new StoredObject(key, 0, encodeStored(object), object)
}

async function storeMarks(
  registry: ObjectRegistry,
  { dryRun, resource }: WriteScope,
  existing: StoredObject,
  object: MutableObject,
): Promise<StoredObject | undefined> {
  // kube-apiserver writes the object that it has read in the version of the request: what that version prunes is lost.
  const marked = await registry.throughServedVersion(resource, existing, object)
  if (!dryRun) return registry.swap(existing, marked)
  return new StoredObject(existing.key, existing.revision, encodeStored(marked))
}

function checkPreconditions(scope: WriteScope, object: MutableObject, { preconditions }: DeleteOptions): void {
  const { resource, strategy } = scope
  const { name = '', uid, resourceVersion } = object.metadata
  if (strategy.preconditionsOfStorage) {
    for (const [field, what] of [
      ['uid', 'UID'],
      ['resourceVersion', 'ResourceVersion'],
    ] as const) {
      const [wanted, found] = [preconditions?.[field], object.metadata[field]]
      if (wanted === undefined || wanted === found) continue
      const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
      throw newConflict(groupResourceOf(resource), name, why)
    }
    return
  }
  const kind = { group: resource.errorGroup, resource: object.kind }
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw newConflict(kind, name, why)
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw newConflict(kind, name, why)
  }
}

/**
 * Sets the grace period of the kind and of the options. `now` means that there is none, `pending` that the object is within a grace
 * period that the request does not shorten.
 */
function setGracePeriod(
  object: MutableObject,
  options: DeleteOptions,
  gracePeriod: Strategy['gracePeriod'],
  now: number,
): 'now' | 'graceful' | 'pending' {
  if (!gracePeriod) return 'now'
  const meta = object.metadata
  const given = options.gracePeriodSeconds
  // A negative period counts as one second.
  const wanted = given === undefined || given >= 0 ? given : 1
  if (meta.deletionTimestamp !== undefined) {
    const current = meta.deletionGracePeriodSeconds ?? 0
    if (current === 0) return 'now'
    if (wanted === undefined || wanted >= current) return 'pending'
    // The period can only be shortened, and it never ends in the past.
    const shortened =
      parseRFC3339(meta.deletionTimestamp).seconds * 1000 + goSecondsToMillis(BigInt(wanted) - BigInt(current))
    const past = shortened < now
    meta.deletionTimestamp = formatRFC3339(instantFromMillis(past ? now : shortened))
    meta.deletionGracePeriodSeconds = past && wanted !== 0 ? 1 : wanted
    return 'graceful'
  }
  const period = gracePeriod(object, wanted)
  if (period === undefined) return 'now'
  meta.deletionTimestamp = formatRFC3339(instantFromMillis(now + goSecondsToMillis(period)))
  meta.deletionGracePeriodSeconds = period
  if ((meta.generation ?? 0) > 0) meta.generation = meta.generation! + 1
  return 'graceful'
}

/** Marks an object that its finalizers keep. */
function markAsDeleting({ metadata: meta }: MutableObject, now: number): void {
  if (meta.deletionTimestamp === undefined && (meta.generation ?? 0) > 0) meta.generation = meta.generation! + 1
  if (meta.deletionTimestamp === undefined || parseRFC3339(meta.deletionTimestamp).seconds * 1000 > now) {
    meta.deletionTimestamp = formatRFC3339(instantFromMillis(now))
  }
  meta.deletionGracePeriodSeconds = 0
}

/** Turns the propagation policy into the finalizer that the garbage collector acts on; true when the finalizers changed. */
function setPropagationFinalizers(
  object: MutableObject,
  options: DeleteOptions,
  { defaultPropagation: fallback, foregroundWithoutOrphans = false }: Strategy,
): boolean {
  if (fallback === 'Unsupported') return false
  const before = object.metadata.finalizers ?? []
  const policy = options.propagationPolicy
  const orphan =
    options.orphanDependents ??
    (policy !== undefined
      ? policy === 'Orphan'
      : before.includes(orphanFinalizer) || (!before.includes(foregroundFinalizer) && fallback === 'Orphan'))
  const foreground =
    options.orphanDependents !== undefined
      ? foregroundWithoutOrphans && !options.orphanDependents
      : policy !== undefined
        ? policy === 'Foreground'
        : before.includes(foregroundFinalizer)
  const after = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer)
  if (orphan) after.push(orphanFinalizer)
  if (foreground) after.push(foregroundFinalizer)
  const known = new Set(before)
  const same = after.length === before.length && after.every((finalizer) => known.has(finalizer))
  if (same) return false
  if (after.length > 0) object.metadata.finalizers = after
  else delete object.metadata.finalizers
  return true
}
