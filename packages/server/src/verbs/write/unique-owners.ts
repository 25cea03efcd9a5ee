import type { RequestContext } from '../../request/request-context.ts'
import type { MutableObject } from '../../resource/object.ts'

const advice =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed'

/** Drops duplicate owner references and adds a Warning about them. */
export function uniqueOwners({ metadata }: MutableObject, context: RequestContext, afterAdmission: boolean): void {
  const references = metadata.ownerReferences
  if (!references || references.length < 2) return
  const unique: typeof references = []
  const repeated: string[] = []
  const known = new Set<string>()
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
    const text = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (known.has(text)) repeated.push(uid)
    else unique.push(reference)
    known.add(text)
  }
  if (repeated.length === 0) return
  metadata.ownerReferences = unique
  const when = afterAdmission ? ' after mutating admission happens' : ''
  context.warn(`.metadata.ownerReferences contains duplicate entries${when}; ${advice}: ${repeated.join(', ')}`)
}
