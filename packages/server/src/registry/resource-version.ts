import { newConflict, newInvalid } from '@kubewright/api'
import { FieldPath, invalid } from '@kubewright/schema'
import { unclassifiedError } from '../request/unclassified-error.ts'
import type { MutableObject } from '../resource/object.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { groupResourceOf, type WriteScope } from './write-scope.ts'

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

/** The resource version that a written object names; 0 when it names none. Throws when the text is no number. */
export function resourceVersionOf({ metadata }: MutableObject): number {
  const text = metadata.resourceVersion ?? ''
  if (text !== '' && !/^\d+$/.test(text)) {
    throw unclassifiedError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
  return Number(text || 0)
}

/**
 * Checks the resource version of an update against the newest one, as the API server's versioner does: empty and "0" mean none. An
 * object without one receives the newest. Throws a Conflict for any other version.
 */
export function requireNewest({ resource, strategy }: WriteScope, existing: StoredObject, object: MutableObject): void {
  const wanted = resourceVersionOf(object)
  const { name = '' } = existing.object.metadata
  if (wanted === 0) {
    if (strategy.allowUnconditionalUpdate === false) {
      const path = FieldPath.of('metadata', 'resourceVersion')
      const error = invalid(path, 0, 'must be specified for an update')
      throw newInvalid({ group: resource.kind.group, kind: resource.kind.plural }, name, [error])
    }
    object.metadata.resourceVersion = String(existing.revision)
  } else if (wanted !== existing.revision) {
    throw newConflict(groupResourceOf(resource), name, modified)
  }
}
