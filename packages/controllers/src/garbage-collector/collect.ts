import { type AnyKind, gvkOf, isConflict, isNotFound, type KubeObject, type TypeMeta } from '@kubewright/api'
import { type ApiClient, metadataOnly, NoMatchError } from '@kubewright/client'
import type { AbsentOwners } from './absent-owners.ts'
import {
  foregroundFinalizer,
  type GraphNode,
  type ObjectGraph,
  type ObjectPlace,
  type OwnerLink,
  orphanFinalizer,
} from './object-graph.ts'

/** Dependencies of {@link collect} and {@link orphanDependents}. */
export interface CollectParts {
  readonly api: ApiClient
  readonly graph: ObjectGraph
  readonly absent: AbsentOwners
  readonly signal: AbortSignal
  /** Enqueues another object. */
  readonly look: (uid: string) => void
  /** Enqueues an object after the next discovery, because the kind of an owner is not served. */
  readonly lookWhenServed: (uid: string) => void
}

/** Reconciles an object: deletes it when all its owners are gone, or continues its foreground deletion. */
export async function collect(uid: string, parts: CollectParts): Promise<void> {
  const { graph } = parts
  const node = graph.node(uid)
  if (node === undefined || node.virtual || (node.beingDeleted && !node.deletingDependents)) return
  if (!node.deletingDependents && graph.hasSolidOwners(uid)) return
  const kind = await kindOf(node.place, parts)
  // The kind is no longer served: its monitor will remove the object from the graph.
  if (kind === undefined) return
  const live = await find(kind, node.place, parts)
  if (live?.metadata.uid !== uid) {
    parts.absent.add(node.place, uid)
    for (const other of graph.delete(uid).look) parts.look(other)
    return
  }
  if (node.deletingDependents) return waitForDependents(node, kind, live, parts)
  const owners = (live.metadata.ownerReferences ?? []) as readonly OwnerLink[]
  if (owners.length === 0) return
  const classified = await classify(live, owners, parts)
  if (classified === undefined) return
  const { solid, dangling, waiting } = classified
  if (solid.length > 0) {
    const gone = [...dangling, ...waiting].map((owner) => owner.uid)
    if (gone.length > 0) await release(kind, live, gone, parts)
  } else if (waiting.length > 0 && graph.dependents(uid).length > 0) {
    // The dependents of this object must be deleted first. In a cycle, they must not block each other's deletion.
    if (graph.dependents(uid).some(({ deletingDependents }) => deletingDependents)) await unblock(kind, live, parts)
    await remove(kind, live, 'Foreground', parts)
  } else {
    await remove(kind, live, policyOf(live), parts)
  }
}

/** Removes the owner references of an object's dependents, then its orphan finalizer. */
export async function orphanDependents(uid: string, parts: CollectParts): Promise<void> {
  const node = parts.graph.node(uid)
  if (node === undefined) return
  for (const dependent of parts.graph.dependents(uid)) {
    const kind = await kindOf(dependent.place, parts)
    const live = kind && (await find(kind, dependent.place, parts))
    if (kind && live?.metadata.uid === dependent.uid) await release(kind, live, [uid], parts)
  }
  const kind = await kindOf(node.place, parts)
  const live = kind && (await find(kind, node.place, parts))
  if (kind && live?.metadata.uid === uid) await dropFinalizer(kind, live, orphanFinalizer, parts)
}

async function waitForDependents(node: GraphNode, kind: AnyKind, live: KubeObject, parts: CollectParts): Promise<void> {
  const blocking = parts.graph.blocking(node.uid)
  if (blocking.length === 0) return dropFinalizer(kind, live, foregroundFinalizer, parts)
  for (const dependent of blocking) if (!dependent.deletingDependents) parts.look(dependent.uid)
}

interface Classified {
  readonly solid: OwnerLink[]
  readonly dangling: OwnerLink[]
  readonly waiting: OwnerLink[]
}

/** Classifies the owners by their state; undefined when the state of an owner cannot be determined. */
async function classify(
  live: KubeObject,
  owners: readonly OwnerLink[],
  parts: CollectParts,
): Promise<Classified | undefined> {
  const classified: Classified = { solid: [], dangling: [], waiting: [] }
  for (const owner of owners) {
    const state = await stateOf(live, owner, parts)
    if (state === undefined) return undefined
    classified[state].push(owner)
  }
  return classified
}

async function stateOf(
  { metadata: { namespace, uid } }: KubeObject,
  owner: OwnerLink,
  parts: CollectParts,
): Promise<keyof Classified | undefined> {
  if (parts.absent.has(owner, namespace)) return 'dangling'
  const kind = await kindOf(owner, parts)
  if (kind === undefined) {
    // The kind may be served again later, so its objects must not be treated as deleted.
    parts.lookWhenServed(uid)
    return undefined
  }
  const namespaced = kind.scope === 'Namespaced'
  // A cluster-scoped object cannot have a namespaced owner. Ignore the invalid reference instead of deleting the
  // object.
  if (namespaced && namespace === undefined) return undefined
  const place = { ...owner, namespace: namespaced ? namespace : undefined }
  const found = await find(kind, place, parts)
  if (found?.metadata.uid !== owner.uid) {
    parts.absent.add(place, owner.uid)
    return 'dangling'
  }
  const { deletionTimestamp, finalizers = [] } = found.metadata
  return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer) ? 'waiting' : 'solid'
}

function policyOf({ metadata: { finalizers = [] } }: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background'
}

async function remove(
  kind: AnyKind,
  { metadata: { name, namespace, uid } }: KubeObject,
  propagationPolicy: 'Orphan' | 'Foreground' | 'Background',
  { api, signal }: CollectParts,
): Promise<void> {
  await unlessGone(() => api.delete(kind, { name, namespace }, { propagationPolicy, preconditions: { uid }, signal }))
}

/** Removes references to owners from an object. */
async function release(kind: AnyKind, live: KubeObject, uids: readonly string[], parts: CollectParts): Promise<void> {
  const owners = (live.metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid))
  if (owners.length === (live.metadata.ownerReferences ?? []).length) return
  await patchMeta(kind, live, { ownerReferences: owners.length === 0 ? null : owners }, parts)
}

/** Sets `blockOwnerDeletion: false`, so that the object no longer delays the deletion of its owners. */
async function unblock(kind: AnyKind, live: KubeObject, parts: CollectParts): Promise<void> {
  const owners = (live.metadata.ownerReferences ?? []) as readonly OwnerLink[]
  if (!owners.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) return
  const ownerReferences = owners.map((owner) =>
    owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner,
  )
  await patchMeta(kind, live, { ownerReferences }, parts)
}

async function dropFinalizer(kind: AnyKind, live: KubeObject, finalizer: string, parts: CollectParts): Promise<void> {
  const { finalizers = [] } = live.metadata
  if (!finalizers.includes(finalizer)) return
  const others = finalizers.filter((name) => name !== finalizer)
  await patchMeta(kind, live, { finalizers: others }, parts)
}

/**
 * Patches the metadata with uid and resource version as preconditions. After a conflict the object is read and
 * evaluated again.
 */
async function patchMeta(
  kind: AnyKind,
  live: KubeObject,
  change: object,
  { api, signal }: CollectParts,
): Promise<void> {
  const { name, namespace, uid, resourceVersion } = live.metadata
  const patch = { metadata: { uid, resourceVersion, ...change } }
  await unlessGone(() => api.patch(kind, { name, namespace }, patch as never, { signal }))
}

async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isNotFound(error) && !(isConflict(error) && isOtherUid(error))) throw error
  }
}

const isOtherUid = (error: unknown): boolean => error instanceof Error && /Precondition failed: UID/.test(error.message)

async function find(
  kind: AnyKind,
  { name, namespace }: ObjectPlace,
  parts: CollectParts,
): Promise<KubeObject | undefined> {
  const found: unknown = await parts.api.find(metadataOnly(kind), { name, namespace }, { signal: parts.signal })
  return found as KubeObject | undefined
}

/** The kind served under this API version and kind; undefined when there is none. */
async function kindOf(place: Readonly<TypeMeta>, { api, signal }: CollectParts): Promise<AnyKind | undefined> {
  try {
    return await api.kind(gvkOf(place), { signal })
  } catch (error) {
    if (error instanceof NoMatchError) return undefined
    throw error
  }
}
