import { encodeJson, newConflict, newInvalid, newNotFound } from '@kubewright/api'
import { formatRFC3339, instantFromMillis, parseRFC3339 } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, notSupported } from '@kubewright/schema'
import { validateDryRun } from '../request/write-options.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import { encodeStored, StoredObject, storedObject } from '../resource/stored-object.ts'
import { foregroundFinalizer, orphanFinalizer } from '../resource/validate-object-meta.ts'
import type { ObjectRegistry, WriteScope } from './object-registry.ts'

/** What a delete was asked to do. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

/** What a delete did: removed the object, or marked it and left the rest to others. */
export interface DeleteOutcome {
  readonly object: StoredObject
  readonly removed: boolean
}

/** Runs before anything is changed, with the grace period when the kind has set one; throws to refuse. */
export type DeleteValidation = (object: MutableObject, gracePeriodSeconds?: number) => Promise<void>

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
  errors.push(...validateDryRun(options.dryRun ?? []))
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
}

/** Deletes an object, or starts its deletion when a grace period or finalizers keep it (registry/generic/registry/store.go, Delete). */
export async function deleteObject(
  registry: ObjectRegistry,
  scope: WriteScope,
  name: string,
  options: DeleteOptions,
  validate: DeleteValidation,
): Promise<DeleteOutcome> {
  validateDeleteOptions(options)
  const { resource, strategy } = scope
  const unsaid = options.propagationPolicy === undefined && options.orphanDependents === undefined
  if (strategy.deleteWarning && unsaid) scope.context.warn(strategy.deleteWarning)
  const groupResource = { group: resource.kind.group, resource: resource.kind.plural }
  for (;;) {
    const existing = await registry.find(resource, scope.namespace, name)
    if (!existing) throw newNotFound(groupResource, name)
    const object = existing.copy()
    if (strategy.preconditionsOfStorage) checkStoredPreconditions(object, options, groupResource)
    else checkPreconditions(object, options, { group: resource.errorGroup, resource: object.kind })
    const now = registry.clock.now()
    const begun = strategy.beginDelete?.(object, now) ?? 'continue'
    if (begun === 'pending') return { object: existing, removed: false }
    if (begun === 'mark' || begun === 'mark-only') {
      await validate((await servedObject(resource, existing)).copy())
      if (begun === 'mark') setPropagationFinalizers(object, options, strategy.defaultPropagation)
      object.metadata.deletionTimestamp = formatRFC3339(instantFromMillis(now))
      const marked = await replace(registry, scope, existing, object)
      if (marked) return { object: marked, removed: false }
      continue
    }
    const plan = planDeletion(object, options, strategy.gracePeriod, now)
    if (plan === 'pending') return { object: existing, removed: false }
    const grace = plan === 'graceful' ? object.metadata.deletionGracePeriodSeconds : undefined
    await validate((await servedObject(resource, existing)).copy(), grace)

    const finalizersChanged = setPropagationFinalizers(object, options, strategy.defaultPropagation)
    const kept = (object.metadata.finalizers ?? []).length > 0
    if (plan === 'now' && kept) markAsDeleting(object, now)
    const removes = !kept && (plan === 'now' || object.metadata.deletionGracePeriodSeconds === 0)
    if (removes) {
      // A kind with grace periods is marked before it goes, also when its period is over at once: watchers see both.
      const last = plan === 'graceful' ? await replace(registry, scope, existing, object) : existing
      if (!last) continue
      if (scope.dryRun) return { object: last, removed: true }
      const result = await registry.store.delete(last.key, last.revision)
      if (!result.ok) continue
      const context = { request: scope.context, now, namespace: scope.namespace, subresource: '', dryRun: false }
      await strategy.afterDelete?.(object, context)
      return { object: last.at(result.revision), removed: true }
    }
    if (plan === 'now' && !finalizersChanged && existing.object.metadata.deletionTimestamp !== undefined) {
      return { object: existing, removed: false }
    }
    const next = await replace(registry, scope, existing, object)
    if (next) return { object: next, removed: false }
  }
}

/** Stores the object in place of the one it was made from; undefined when somebody else was faster. */
async function replace(
  registry: ObjectRegistry,
  scope: WriteScope,
  existing: StoredObject,
  object: MutableObject,
): Promise<StoredObject | undefined> {
  const raw = encodeStored(object, encodeJson)
  if (existing.sameContent(raw)) return existing
  if (scope.dryRun) return new StoredObject(existing.key, existing.revision, raw)
  const result = await registry.store.put(existing.key, raw, existing.revision)
  return result.ok ? storedObject(result.entry!) : undefined
}

/** As {@link checkPreconditions}, in the words of those who ask storage. */
function checkStoredPreconditions(
  { metadata }: MutableObject,
  { preconditions }: DeleteOptions,
  resource: { group: string; resource: string },
): void {
  for (const [field, what] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const [wanted, found] = [preconditions?.[field], metadata[field]]
    if (wanted === undefined || wanted === found) continue
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`
    throw newConflict(resource, metadata.name ?? '', why)
  }
}

function checkPreconditions(
  object: MutableObject,
  { preconditions }: DeleteOptions,
  kind: { group: string; resource: string },
): void {
  const { uid, resourceVersion } = object.metadata
  const name = object.metadata.name ?? ''
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
 * Decides between deleting at once ('now'), after a grace period that the object then carries ('graceful'), and doing nothing because
 * the object is already on its way out ('pending').
 */
function planDeletion(
  object: MutableObject,
  options: DeleteOptions,
  gracePeriod: ((object: MutableObject, asked: number | undefined) => number | undefined) | undefined,
  now: number,
): 'now' | 'graceful' | 'pending' {
  if (!gracePeriod) return 'now'
  const meta = object.metadata
  // A negative period counts as one second.
  const asked =
    options.gracePeriodSeconds === undefined
      ? undefined
      : options.gracePeriodSeconds < 0
        ? 1
        : options.gracePeriodSeconds
  if (meta.deletionTimestamp !== undefined) {
    const current = meta.deletionGracePeriodSeconds ?? 0
    if (current === 0) return 'now'
    if (asked === undefined || asked >= current) return 'pending'
    // The period can only be shortened, and never into the past.
    const shortened = parseRFC3339(meta.deletionTimestamp).seconds * 1000 + (asked - current) * 1000
    const past = shortened < now
    meta.deletionTimestamp = formatRFC3339(instantFromMillis(past ? now : shortened))
    meta.deletionGracePeriodSeconds = past && asked !== 0 ? 1 : asked
    return 'graceful'
  }
  const period = gracePeriod(object, asked)
  if (period === undefined) return 'now'
  meta.deletionTimestamp = formatRFC3339(instantFromMillis(now + period * 1000))
  meta.deletionGracePeriodSeconds = period
  if ((meta.generation ?? 0) > 0) meta.generation = meta.generation! + 1
  return 'graceful'
}

/** Keeps an object that has finalizers, and says that it is being deleted. */
function markAsDeleting(object: MutableObject, now: number): void {
  const meta = object.metadata
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
  fallback: 'Background' | 'Orphan' | undefined,
): boolean {
  const before = object.metadata.finalizers ?? []
  const policy = options.propagationPolicy
  const orphan =
    options.orphanDependents ??
    (policy !== undefined
      ? policy === 'Orphan'
      : before.includes(orphanFinalizer) || (!before.includes(foregroundFinalizer) && fallback === 'Orphan'))
  const foreground =
    options.orphanDependents !== undefined
      ? false
      : policy !== undefined
        ? policy === 'Foreground'
        : before.includes(foregroundFinalizer)
  const after = before.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer)
  if (orphan) after.push(orphanFinalizer)
  if (foreground) after.push(foregroundFinalizer)
  const same = after.length === before.length && after.every((finalizer) => before.includes(finalizer))
  if (same) return false
  if (after.length > 0) object.metadata.finalizers = after
  else delete object.metadata.finalizers
  return true
}
