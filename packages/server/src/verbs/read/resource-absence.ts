import { linkSignals } from '@kubewright/base'
import type { ObjectRegistry } from '../../registry/object-registry.ts'
import type { ResourceTable } from '../../resource/resource-table.ts'

/** The parts of the server that {@link findAbsence} uses. */
export interface AbsenceParts {
  readonly resources: ResourceTable
  readonly registry: ObjectRegistry
}

/** States that a resource has no objects. */
export interface ResourceAbsence {
  /** There were no objects at this version, and a watch can start after it. */
  readonly resourceVersion: string
  /** Resolves when an object was created, when the resource is no longer served this way, or when the signal aborts. */
  readonly ended: Promise<void>
}

/**
 * Finds out whether a resource has no objects, for clients in the same process: they need no watch until the first one exists. Returns
 * undefined if there are objects, or if only a request can tell.
 */
export function findAbsence(
  { resources, registry: { feed } }: AbsenceParts,
  { group, version, plural }: { readonly group: string; readonly version: string; readonly plural: string },
  signal: AbortSignal,
): ResourceAbsence | undefined {
  const resource = resources.find(group, version, plural)
  // A client of a resource that cannot be watched must receive the error.
  if (resource === undefined || resource.computed !== undefined || !resource.serving.verbs.includes('watch')) return
  const cache = feed.filledCache(resource.storage.prefix)
  if (cache === undefined || cache.size > 0 || cache.unreadable.size > 0) return undefined
  const resourceVersion = String(feed.revision)
  const { ended } = resource.serving
  if (ended === undefined) return { resourceVersion, ended: cache.changed(signal) }
  // The cache of a resource that is no longer served sees no changes.
  const until = linkSignals(signal, ended)
  return { resourceVersion, ended: cache.changed(until.signal).then(() => until[Symbol.dispose]()) }
}
