import {
  type AnyKind,
  findCause,
  hasFinalizer,
  isInvalid,
  isNotFound,
  type KubeObject,
  keyOf,
  newConflict,
} from '@kubewright/api'
import type { CallOptions, Client } from '@kubewright/client'

// How often the place of a finalizer may change under our hands before the reconcile is left to try again.
const attempts = 5

/**
 * Adds a finalizer to an object that was read. The write holds only at the version that was read, so that it cannot lose finalizers
 * of others: it rejects with a Conflict when the object has changed. Resolves to the object, or undefined when it is gone.
 */
export async function acquireFinalizer(
  client: Client,
  kind: AnyKind,
  object: KubeObject,
  finalizer: string,
  options: CallOptions & { readonly fieldManager: string },
): Promise<KubeObject | undefined> {
  const { resourceVersion, finalizers = [] } = object.metadata
  const patch = { metadata: { resourceVersion, finalizers: [...finalizers, finalizer] } }
  try {
    return (await client.patch(kind, keyOf(object), patch, { ...options, type: 'merge' })) as KubeObject
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * Removes one finalizer from this very object and touches nothing else: the patch tests that the entry is where it was read, and is
 * made again from the newest version when it has moved. An object that is gone, or has lost the finalizer, is fine.
 */
export async function releaseFinalizer(
  client: Client,
  kind: AnyKind,
  object: KubeObject,
  finalizer: string,
  options: CallOptions & { readonly fieldManager: string },
): Promise<void> {
  const key = keyOf(object)
  let current: KubeObject | undefined = object
  let refused: { readonly path: string; readonly error: unknown } | undefined
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (current === undefined || current.metadata.uid !== object.metadata.uid) return
    if (!hasFinalizer(current, finalizer)) return
    const path = `/metadata/finalizers/${current.metadata.finalizers?.indexOf(finalizer) ?? 0}`
    // Nothing moved, so it was no test that failed.
    if (refused?.path === path) throw refused.error
    const patch = [
      { op: 'test', path: '/metadata/uid', value: object.metadata.uid },
      { op: 'test', path, value: finalizer },
      { op: 'remove', path },
    ] as const
    try {
      await client.patch(kind, key, patch, { ...options, type: 'json' })
      return
    } catch (error) {
      if (isMissing(error)) return
      // A test that fails makes the request unprocessable; it is no mistake of ours, but somebody else's change.
      if (!isInvalid(error)) throw error
      refused = { path, error }
    }
    current = (await client.find(kind, key, { consistency: 'live', signal: options.signal })) as KubeObject | undefined
  }
  throw newConflict(
    { group: kind.group, resource: kind.plural },
    object.metadata.name,
    `the finalizer ${finalizer} could not be removed as others keep changing the finalizers: it is tried again`,
  )
}

/** The object is gone; a kind that the server no longer serves is another matter. */
function isMissing(error: unknown): boolean {
  return isNotFound(error) && !findCause(error, 'UnexpectedServerResponse')
}
