import { type AnyKind, isApiError, isInvalid, newConflict } from '@kubewright/api'

/**
 * The error of a write that named the uid of the object it was meant for: that another object has taken the name since is a conflict,
 * though servers call it an invalid value. Other errors come back as they are.
 */
export function asUidConflict(error: unknown, kind: AnyKind, name: string): unknown {
  if (!isInvalid(error) || !isApiError(error) || !error.causes.some(({ field }) => field === 'metadata.uid'))
    return error
  return newConflict({ group: kind.group, resource: kind.plural }, name, error)
}
