import { type AnyKind, isApiError, isInvalid, newConflict } from '@kubewright/api'

/**
 * Converts the Invalid error of a write whose uid no longer matches to a Conflict: another object has taken the name.
 * Returns other errors unchanged.
 */
export function asUidConflict(error: unknown, kind: AnyKind, name: string): unknown {
  if (!isInvalid(error) || !isApiError(error) || !error.causes.some(({ field }) => field === 'metadata.uid'))
    return error
  return newConflict({ group: kind.group, resource: kind.plural }, name, error)
}
