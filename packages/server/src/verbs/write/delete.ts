import { type ApiResponse, isForbidden, isNotFound, newForbidden, newNotFound } from '@kubewright/api'
import { Stretch } from '@kubewright/base'
import type { AdmissionChain } from '../../admission/admission.ts'
import {
  commitDeletion,
  type DeleteOptions,
  type DeleteOutcome,
  type DeletionPlan,
  planDeletion,
  validateDeleteOptions,
} from '../../registry/deletion.ts'
import type { ObjectRegistry } from '../../registry/object-registry.ts'
import { groupResourceOf, type WriteScope } from '../../registry/write-scope.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { respond } from '../../request/respond.ts'
import { servedObject } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import { encodeStored, StoredObject } from '../../resource/stored-object.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { Endpoint } from '../endpoint.ts'
import { negotiateObject } from '../negotiation.ts'
import { presentObject } from '../present.ts'
import { collectObjects } from '../read/collect-objects.ts'
import { presentList } from '../read/list.ts'
import { readListQuery } from '../read/list-options.ts'
import { readDeleteOptions } from './delete-options.ts'
import { writeOf } from './write.ts'

/** Other requests run after so many bytes of the objects of a collection were deleted. */
const deletedBytes = 64 * 1024

/** A deletion of one object. */
export interface Deletion {
  readonly registry: ObjectRegistry
  readonly scope: WriteScope
  /** The plugins that see the deletion. */
  readonly admission: AdmissionChain
  readonly name: string
  /** Whether the request deletes a collection. Admission plugins then see no name, and the options without the chosen grace period. */
  readonly ofCollection?: boolean | undefined
  readonly options: DeleteOptions
}

/** Handles DELETE of one object. */
export async function remove(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { resource } = endpoint
  const representation = negotiateObject(context, endpoint)
  const options = await readDeleteOptions(context, endpoint.release)
  const { object, removed, wasUnreadable } = await deleteObject(
    deletionOf(endpoint, context, context.info.name, options),
  )
  if (!removed || (resource.strategy.returnDeletedObject && !wasUnreadable)) {
    // Only the deprecated option is answered with Accepted.
    const status = !removed && options.orphanDependents === false ? 202 : 200
    return presentObject(status, endpoint, object, representation)
  }
  const { group, plural } = resource.kind
  const details = {
    name: context.info.name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    ...(wasUnreadable ? {} : { uid: object.object.metadata.uid }),
  }
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
  const { mediaType, pretty, types } = representation
  return respond(200, status, { mediaType, pretty, types })
}

/**
 * Handles DELETE of a collection: deletes the selected objects one after the other and responds with the list. The deletion is not
 * atomic: after an error the objects before it are gone.
 */
export async function removeCollection(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateObject(context, endpoint)
  const { options: listed, selection } = readListQuery(endpoint.resource, query, { watch: false }, () => undefined)
  const options = await readDeleteOptions(context, endpoint.release)
  validateDeleteOptions(options)
  const listing = await collectObjects(endpoint, context, listed, selection)
  warnOfDefaultPolicy(endpoint.strategy, options, context)
  const stretch = new Stretch(deletedBytes)
  for (const { object, itemSize } of listing.objects) {
    const turn = stretch.before(itemSize)
    if (turn) await turn
    const deletion = deletionOf(endpoint, context, object.metadata.name!, options)
    await deleteObject({ ...deletion, ofCollection: true }).catch((error: unknown) => {
      // Another request deleted the object first.
      if (!isNotFound(error)) throw error
    })
  }
  return presentList(endpoint, context, listing, representation)
}

/** A deletion through an endpoint. */
export function deletionOf(
  endpoint: Endpoint,
  context: RequestContext,
  name: string,
  options: DeleteOptions,
  admission: AdmissionChain = endpoint.admission,
): Deletion {
  const dryRun = (options.dryRun ?? []).length > 0
  const { scope } = writeOf(endpoint, context, dryRun, name)
  return { registry: endpoint.registry, scope, admission, name, options }
}

/**
 * Deletes an object, or starts its deletion when a grace period or finalizers keep it. The steps are those of the write pipeline: load
 * the newest version, plan, admission, commit by compare-and-swap. When another write comes first, they start again with the new
 * version, so that admission may see one request several times.
 */
export async function deleteObject(deletion: Deletion): Promise<DeleteOutcome> {
  const { registry, scope, name, options } = deletion
  const { resource, strategy } = scope
  validateDeleteOptions(options)
  warnOfDefaultPolicy(strategy, options, scope.context)
  for (;;) {
    if (options.ignoreStoreReadErrorWithClusterBreakingPotential) {
      const outcome = await deleteUnreadable(deletion)
      if (outcome === 'conflict') continue
      if (outcome) return outcome
    }
    const existing = await registry.find(resource, scope.namespace, name)
    if (!existing) throw newNotFound(groupResourceOf(resource), name)
    const plan = planDeletion(registry, scope, existing, options)
    if (plan.action === 'none') return { object: existing, removed: false }
    await admit(deletion, existing, plan)
    const outcome = await commitDeletion(registry, scope, existing, plan)
    if (outcome) return outcome
  }
}

function warnOfDefaultPolicy({ deleteWarning }: Strategy, options: DeleteOptions, { warn }: RequestContext): void {
  const isDefault = options.propagationPolicy === undefined && options.orphanDependents === undefined
  if (deleteWarning && isDefault) warn(deleteWarning)
}

const unsafeVerb = 'unsafe-delete-ignore-read-errors'

/**
 * Deletes an object that cannot be read or converted, as the feature AllowUnsafeMalformedObjectDeletion of kube-apiserver does
 * (registry/generic/registry/corrupt_obj_deleter.go): preconditions, grace period, finalizers and the hooks of the kind do not apply.
 * Returns undefined when the object can be read or does not exist: the caller deletes it as usual.
 */
async function deleteUnreadable(deletion: Deletion): Promise<DeleteOutcome | 'conflict' | undefined> {
  const { registry, scope, name } = deletion
  const { resource, namespace, context, dryRun } = scope
  const existing = await registry.findUnchecked(resource, namespace, name)
  if (!existing || (await isServable(resource, existing))) return undefined
  await context.authorize(unsafeVerb).catch((error: unknown) => {
    if (!isForbidden(error)) throw error
    throw newForbidden(groupResourceOf(resource), name, `not permitted to do "${unsafeVerb}", reason: `)
  })
  const { kind, apiVersion } = resource.kind
  const stub = { kind, apiVersion, metadata: { name, ...(namespace === '' ? {} : { namespace }) } }
  const object = new StoredObject(existing.key, existing.revision, encodeStored(stub), stub)
  await review(deletion, stub)
  if (!dryRun) {
    const result = await registry.store.delete(existing.key, existing.revision)
    if (!result.ok) return 'conflict'
  }
  return { object, removed: true, wasUnreadable: true }
}

async function isServable(resource: Resource, existing: StoredObject): Promise<boolean> {
  if (existing.problem !== undefined) return false
  try {
    await servedObject(resource, existing)
    return true
  } catch {
    return false
  }
}

async function admit(deletion: Deletion, existing: StoredObject, plan: DeletionPlan): Promise<void> {
  const old = (await servedObject(deletion.scope.resource, existing)).copy()
  await review(deletion, old, plan.gracePeriodSeconds)
}

/** Runs admission. `old` is the object as clients see it. */
async function review(
  { scope, admission, name, ofCollection, options }: Deletion,
  old: MutableObject,
  gracePeriodSeconds?: number,
): Promise<void> {
  const { context, resource, namespace, dryRun } = scope
  const attributes = {
    context,
    resource,
    subresource: '',
    operation: 'DELETE' as const,
    namespace: namespace || (old.metadata.namespace ?? ''),
    name: ofCollection ? '' : name,
    dryRun,
    object: undefined,
    old,
    options: {
      ...options,
      ...(ofCollection || gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
    },
  }
  await admission.mutate(attributes)
  await admission.validate(attributes)
}
