import { isConflict, isNotFound } from '@kubewright/api'
import { type Clock, KubewrightError, type Logger } from '@kubewright/base'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { asCrd, type Crd, crdGroup } from './definitions/crd.ts'

/** The parts of a server that serve its CRDs. */
export interface CrdParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly log: Logger
}

/** The resource customresourcedefinitions. */
export function crdResourceOf({ resources }: CrdParts): Resource {
  const resource = resources.find(crdGroup, 'v1', 'customresourcedefinitions')
  if (!resource)
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      'Cannot serve custom resources: the server does not serve customresourcedefinitions',
    )
  return resource
}

/** The CRD with `conditions: null` where it has none. The first writer of conditions would own the whole list otherwise. */
function withConditions(object: MutableObject): MutableObject {
  const { status } = asCrd(object)
  return status?.conditions ? object : { ...object, status: { ...status, conditions: null } }
}

/**
 * Changes the status of a CRD on behalf of the server. Undefined when the CRD was changed or deleted since `stored` was
 * read; the registrar then syncs it again, because the cache reports the change.
 */
export async function writeCrd(
  parts: CrdParts,
  stored: StoredObject,
  change: (crd: Crd) => void,
): Promise<StoredObject | undefined> {
  const target = { resource: crdResourceOf(parts), subresource: 'status', name: stored.object.metadata.name ?? '' }
  const edit = (object: MutableObject): void => {
    const next = asCrd(object)
    // Makes the write fail when the CRD is no longer the one that the change was made for.
    next.metadata.resourceVersion = String(stored.revision)
    next.status ??= {}
    change(next)
  }
  try {
    return await parts.writer.update(target, edit, { baseline: withConditions })
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined
    throw error
  }
}
