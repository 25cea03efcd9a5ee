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

// The maximum number of attempts when other writers keep changing the list of finalizers.
const attempts = 5

/**
 * Adds a finalizer to an object that was read. The write is conditional on the version, so it cannot remove finalizers
 * of others: it rejects with a Conflict when the object has changed. Resolves to the object, or undefined when it is
 * gone.
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
 * Removes one finalizer and nothing else. The patch tests the uid and the position of the entry, and is retried from
 * the newest version when the entry has moved. Does nothing when the object is gone or does not have the finalizer.
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
    // The position is unchanged, so the test did not fail: the server rejected the patch for another reason.
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
      // A failed test makes the patch Invalid: another writer has changed the object.
      if (!isInvalid(error)) throw error
      refused = { path, error }
    }
    current = (await client.find(kind, key, { consistency: 'live', signal: options.signal })) as KubeObject | undefined
  }
  throw newConflict(
    { group: kind.group, resource: kind.plural },
    object.metadata.name,
    `the finalizer ${finalizer} could not be removed because other writers keep changing the finalizers; retrying`,
  )
}

/** Whether the object is gone. A kind that the server does not serve is an error. */
function isMissing(error: unknown): boolean {
  return isNotFound(error) && !findCause(error, 'UnexpectedServerResponse')
}
