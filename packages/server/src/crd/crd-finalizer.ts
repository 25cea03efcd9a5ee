import { isNotFound } from '@kubewright/api'
import { linkSignals } from '@kubewright/base'
import { unreadableError } from '../registry/object-registry.ts'
import type { Resource } from '../resource/resource.ts'
import { type StoredObject, storedObject } from '../resource/stored-object.ts'
import { type CrdParts, crdResourceOf, writeCrd } from './crd-writer.ts'
import { asCrd, type Crd, cleanupFinalizer } from './definitions/crd.ts'
import { isCrdCondition, setCrdCondition } from './definitions/crd-conditions.ts'

/** How long to wait for the deletion of custom resources before the condition reports a failure. */
const patienceMillis = 60_000
const retryMillis = 1000

interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/**
 * Deletes the custom resources of a CRD that is being deleted, waits for those with finalizers, and then removes the finalizer of
 * the CRD. Returns early when the signal aborts or when the CRD no longer exists.
 */
export async function finalizeCrd(
  parts: CrdParts,
  name: string,
  stored: Resource | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = parts
  while (!signal.aborted) {
    const begun = await change(parts, name, (crd) => {
      const message = 'CustomResource deletion is in progress'
      terminating(crd, { status: 'True', reason: 'InstanceDeletionInProgress', message }, clock.now())
    })
    if (!begun) return
    let verdict: Verdict
    if (stored && isCrdCondition(asCrd(begun.object), 'Established')) {
      verdict = await removeAll(parts, stored, signal)
    } else verdict = { status: 'False', reason: 'NeverEstablished', message: 'resource was never established' }
    if (signal.aborted) return
    const done = await change(parts, name, (crd) => {
      terminating(crd, verdict, clock.now())
      if (verdict.status === 'True') return
      crd.metadata.finalizers = (crd.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
    })
    if (!done || verdict.status === 'False') return
    await clock.sleep(retryMillis, { signal }).catch(() => undefined)
  }
}

function terminating(crd: Crd, verdict: Verdict, now: number): void {
  setCrdCondition(crd, { type: 'Terminating', ...verdict }, now)
}

/** Changes the newest version of a CRD; undefined when it does not exist or needs no cleanup. */
async function change(parts: CrdParts, name: string, apply: (crd: Crd) => void): Promise<StoredObject | undefined> {
  for (;;) {
    const found = await parts.registry.find(crdResourceOf(parts), '', name)
    const { deletionTimestamp, finalizers = [] } = found?.object.metadata ?? {}
    if (!found || deletionTimestamp === undefined || !finalizers.includes(cleanupFinalizer)) return undefined
    const written = await writeCrd(parts, found, apply)
    if (written) return written
  }
}

async function removeAll(parts: CrdParts, resource: Resource, signal: AbortSignal): Promise<Verdict> {
  const { registry, clock } = parts
  const { prefix } = resource.storage
  try {
    const { entries } = await registry.store.list({ prefix })
    const stored = entries.map(storedObject)
    for (const object of stored) if (object.problem === undefined) await removeOne(parts, resource, object)
    const unreadable = stored.find(({ problem }) => problem !== undefined)
    if (unreadable) throw unreadableError(unreadable)
  } catch (error) {
    const message = `could not issue all deletes: ${(error as Error).message}`
    return { status: 'True', reason: 'InstanceDeletionFailed', message }
  }
  const cache = await registry.feed.cache(prefix)
  await registry.feed.reached(await registry.store.revision(), signal)
  const waiting = linkSignals(signal)
  const timer = clock.setTimer(patienceMillis, () => waiting.abort(), 'custom resource deletion')
  try {
    while (cache.size > 0 && !waiting.signal.aborted) await cache.changed(waiting.signal)
  } finally {
    timer.cancel()
    waiting[Symbol.dispose]()
  }
  if (cache.size === 0) {
    return { status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' }
  }
  const message = 'could not confirm zero CustomResources remaining: context deadline exceeded'
  return { status: 'True', reason: 'InstanceDeletionCheck', message }
}

async function removeOne({ writer }: CrdParts, resource: Resource, { object }: StoredObject): Promise<void> {
  const { name = '', namespace = '' } = object.metadata
  await writer.delete({ resource, namespace, name }).catch((error: unknown) => {
    // Another client deleted it first.
    if (!isNotFound(error)) throw error
  })
}
