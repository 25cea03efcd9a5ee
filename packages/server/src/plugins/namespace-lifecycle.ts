import { ApiError, newForbidden, newNotFound } from '@kubewright/api'
import type { Awaitable, Clock } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { ObjectLookup, SharedObject } from '../registry/object-lookup.ts'
import { andThen } from '../request/awaitable.ts'
import { admissionForbidden } from './admission-forbidden.ts'

const namespaces = ['', 'v1', 'namespaces'] as const
const undeletable: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])
/** Milliseconds after the deletion of a namespace during which the cache may not show it yet, so the store is read instead. */
const deletionGrace = 30_000

/** Rejects new objects in namespaces that do not exist or are terminating, and the deletion of system namespaces. */
export function namespaceLifecycle({ lookup, clock }: { lookup: ObjectLookup; clock: Clock }): AdmissionPlugin {
  /** Namespaces that this server deleted recently, with the time until which their cached phase is not trusted. */
  const deleted = new Map<string, number>()

  const find = (name: string): Awaitable<SharedObject | undefined> =>
    andThen(lookup.find(namespaces, '', name), (found) => {
      const until = deleted.get(name)
      if (until === undefined) return found
      if (until < clock.now()) deleted.delete(name)
      return phaseOf(found) === 'Active' ? lookup.live(namespaces, '', name) : found
    })

  return {
    name: 'NamespaceLifecycle',
    mutate: (attributes) => {
      const { resource, operation, namespace } = attributes
      const { group, plural } = resource.kind
      if (group === '' && plural === 'namespaces') {
        if (operation !== 'DELETE') return undefined
        if (undeletable.has(attributes.name)) {
          throw newForbidden({ group, resource: plural }, attributes.name, 'this namespace may not be deleted')
        }
        deleted.set(attributes.name, clock.now() + deletionGrace)
        return undefined
      }
      if (namespace === '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
      // A missing namespace must not be revealed by an access review.
      if (group === 'authorization.k8s.io' && plural === 'localsubjectaccessreviews') return undefined
      return andThen(find(namespace), (found) => {
        if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace)
        if (operation === 'CREATE' && phaseOf(found) === 'Terminating') throw terminating(attributes)
      })
    },
  }
}

function phaseOf(namespace: SharedObject | undefined): string | undefined {
  return (namespace?.['status'] as { phase?: string | undefined } | undefined)?.phase
}

function terminating(attributes: AdmissionAttributes): ApiError {
  const { namespace } = attributes
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const { status } = admissionForbidden(attributes, why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError({ ...status, details: { ...status.details, causes: [cause] } })
}
