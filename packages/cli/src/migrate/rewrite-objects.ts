import { ApiError, isConflict, isNotFound } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { type ApiClient, allNamespaces, metadataOnly } from '@kubewright/client'
import type { StoredDefinition } from './stored-definition.ts'

/** An object that could not be rewritten. */
export interface RewriteFailure {
  readonly namespace?: string | undefined
  readonly name: string
  readonly message: string
}

/** The result of {@link rewriteObjects}. */
export interface RewriteResult {
  /** The number of objects that the CRD had at the start. */
  readonly objects: number
  /** How many of them the server wrote again. The others were stored in the storage version already, or are gone. */
  readonly rewritten: number
  readonly failures: readonly RewriteFailure[]
}

/** The options of {@link rewriteObjects}. */
export interface RewriteOptions {
  readonly client: ApiClient
  readonly signal: AbortSignal
  /** Called after each object. */
  readonly onProgress: (done: number, objects: number) => void
}

// Enough to hide the latency of a remote server, and within the default limits of an API server for one client.
const concurrency = 8

/** Lists the objects of a CRD, as metadata only. */
export async function listObjects(
  { kind }: StoredDefinition,
  client: ApiClient,
  signal: AbortSignal,
): Promise<readonly { readonly namespace?: string | undefined; readonly name: string; readonly version: string }[]> {
  const objects = await client.list(metadataOnly(kind), { namespace: allNamespaces, signal })
  return objects.map(({ metadata: { namespace, name, resourceVersion } }) => ({
    namespace,
    name,
    version: resourceVersion,
  }))
}

/** Rewrites one object of a CRD that is stored in an old version, if there is one among the first. */
export async function rewriteOne(definition: StoredDefinition, client: ApiClient, signal: AbortSignal): Promise<void> {
  const kind = metadataOnly(definition.kind)
  for (const { namespace, name, version } of (await listObjects(definition, client, signal)).slice(0, concurrency)) {
    try {
      const { metadata } = await client.patch(kind, { namespace, name }, {}, { type: 'merge', signal })
      if (metadata.resourceVersion !== version) return
    } catch (error) {
      // The migration itself reports objects that cannot be rewritten.
      if (!(error instanceof ApiError)) throw error
    }
  }
}

/**
 * Rewrites all objects of a CRD in its storage version, by an empty patch each. The server compares the encoded object with
 * the stored bytes and writes it if they differ, so that an object in the storage version causes no write and no watch
 * event. Objects that are created meanwhile need no rewrite. Never rejects for the error of a single object.
 */
export async function rewriteObjects(
  definition: StoredDefinition,
  { client, signal, onProgress }: RewriteOptions,
): Promise<RewriteResult> {
  const objects = await listObjects(definition, client, signal)
  const kind = metadataOnly(definition.kind)
  const failures: RewriteFailure[] = []
  let [next, done, rewritten] = [0, 0, 0]
  const work = async (): Promise<void> => {
    for (let object = objects[next++]; object !== undefined; object = objects[next++]) {
      const { namespace, name, version } = object
      try {
        const { metadata } = await client.patch(kind, { namespace, name }, {}, { type: 'merge', signal })
        if (metadata.resourceVersion !== version) rewritten++
      } catch (error) {
        signal.throwIfAborted()
        // A conflict means that other writes keep coming first: each of them stores the object in the storage version.
        if (!isNotFound(error) && !isConflict(error)) {
          failures.push({ ...(namespace === undefined ? {} : { namespace }), name, message: errorText(error) })
        }
      }
      onProgress(++done, objects.length)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, objects.length) }, work))
  return { objects: objects.length, rewritten, failures }
}
