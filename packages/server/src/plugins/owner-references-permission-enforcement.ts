import { parseGroupVersion } from '@kubewright/api'
import { deepEqual, goQuote } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { type AuthorizationAttributes, type Authorizer, type Decision, resourceAttributes } from '../auth/authorizer.ts'
import type { DiscoveryIndex } from '../discovery/discovery-index.ts'
import type { MutableObject } from '../resource/object.ts'
import { admissionForbidden } from './admission-forbidden.ts'

/** What {@link ownerReferencesPermissionEnforcement} takes. */
export interface OwnerEnforcementOptions {
  readonly authorizer: Authorizer
  /** Knows which resource the kind of an owner is, also where another server answers for it. */
  readonly discovery: Pick<DiscoveryIndex, 'find'>
}

interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blockOwnerDeletion?: boolean
}

/**
 * Lets only those change whom an object belongs to who may delete it, and only those keep an owner from going who may set the
 * finalizers of that owner (plugin/pkg/admission/gc). Whoever creates an object may give it to anybody.
 */
export function ownerReferencesPermissionEnforcement(options: OwnerEnforcementOptions): AdmissionPlugin {
  const { authorizer, discovery } = options
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    validate: async (attributes) => {
      const { operation, object, old, resource, subresource, namespace, name, context } = attributes
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object || isPodStatus(attributes)) return
      const [owners, before] = [ownersOf(object), ownersOf(old)]
      if (deepEqual(owners, before)) return
      const { user } = context
      if (operation === 'UPDATE') {
        const { group, version, plural } = resource.kind
        const about = { verb: 'delete', group, version, resource: plural, subresource, namespace, name }
        const decision = await authorizer.authorize(resourceAttributes(user, about))
        if (!decision.allowed) {
          throw admissionForbidden(
            attributes,
            `cannot set an ownerRef on a resource you can't delete: ${because(decision)}`,
          )
        }
      }
      const blocked = newlyBlocked(owners, before)
      if (blocked.length === 0 || (await mayFinalizeAnything(authorizer, attributes))) return
      for (const owner of blocked) {
        const about = finalizersOf(discovery, owner, namespace)
        if (about === undefined) throw admissionForbidden(attributes, unknownOwner(owner))
        const decision = await authorizer.authorize(resourceAttributes(user, about))
        if (decision.allowed) continue
        throw admissionForbidden(
          attributes,
          `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${because(decision)}`,
        )
      }
    },
  }
}

/** Old kubelets send pods without their owners there; what they leave out is not taken over anyway. */
function isPodStatus({ resource, subresource }: AdmissionAttributes): boolean {
  return resource.kind.group === '' && resource.kind.plural === 'pods' && subresource === 'status'
}

function ownersOf(object: MutableObject | undefined): readonly OwnerReference[] {
  return (object?.metadata?.ownerReferences ?? []) as readonly OwnerReference[]
}

/** Owners that could go before, as far as this object is concerned, and cannot any more. */
function newlyBlocked(owners: readonly OwnerReference[], before: readonly OwnerReference[]): OwnerReference[] {
  const known = new Map(before.map((owner) => [owner.uid, owner]))
  return owners.filter(
    ({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && known.get(uid)?.blockOwnerDeletion !== true,
  )
}

async function mayFinalizeAnything(authorizer: Authorizer, { context }: AdmissionAttributes): Promise<boolean> {
  const about = { verb: 'update', group: '*', resource: '*', subresource: 'finalizers', name: '*' }
  return (await authorizer.authorize(resourceAttributes(context.user, about))).allowed
}

type About = Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource'> & Partial<AuthorizationAttributes>

/** The right that keeping an owner takes; undefined when no such kind is served. Owners with a namespace are in that of the object. */
function finalizersOf(
  discovery: Pick<DiscoveryIndex, 'find'>,
  { apiVersion, kind, name }: OwnerReference,
  namespace: string,
): About | undefined {
  const { group, version } = parseGroupVersion(apiVersion)
  const served = discovery.find(group, version)
  // The names of remote resources are under another key, as the aggregated document has them.
  const candidates = [...(served?.resources ?? []), ...(served?.remote?.resources ?? [])] as readonly {
    readonly name?: string
    readonly resource?: string
    readonly scope?: string
    readonly responseKind?: { readonly kind?: string }
  }[]
  const found = candidates.findLast(({ responseKind: { kind: shown = '' } = {} }) => isCalled(kind, shown))
  if (found === undefined) return undefined
  const resource = found.name ?? found.resource ?? ''
  return {
    verb: 'update',
    group,
    version,
    resource,
    subresource: 'finalizers',
    namespace: found.scope === 'Namespaced' ? namespace : '',
    name,
  }
}

/** Kinds are found by their name in lower case as well, as clients' mappers do. */
function isCalled(wanted: string, kind: string): boolean {
  return wanted === kind || wanted === kind.toLowerCase()
}

function unknownOwner({ apiVersion, kind }: OwnerReference): string {
  const why = `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`
  return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`
}

/** The reason and the error of a decision as Go prints them; deciding never fails here. */
function because({ reason }: Decision): string {
  return `${reason}, <nil>`
}
