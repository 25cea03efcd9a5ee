import { duplicate, type FieldError, required } from '@kubewright/schema'
import type { MutableObject } from '../../resource/object.ts'
import { part, statusPath } from '../checks/strategy-checks.ts'

/** Checks that the conditions of a flow control object have types, each at most once. */
export function validateFlowConditions(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { conditions } = part<{ conditions?: { type?: string | undefined }[] | null | undefined }>(object, 'status')
  const seen = new Set<string>()
  for (const [i, { type = '' }] of (conditions ?? []).entries()) {
    const path = statusPath.child('conditions').index(i).child('type')
    if (seen.has(type)) errors.push(duplicate(path, type))
    seen.add(type)
    if (type === '') errors.push(required(path))
  }
  return errors
}
