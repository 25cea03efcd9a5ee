import { parseGroupVersion } from '@kubewright/api'
import { deepEqual, goQuote } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import { type AuthorizationAttributes, type Authorizer, type Decision, resourceAttributes } from '../auth/authorizer.ts'
import type { DiscoveryIndex } from '../discovery/discovery-index.ts'
import type { MutableObject } from '../resource/object.ts'
import { admissionForbidden } from './admission-forbidden.ts'

/** Options of {@link ownerReferencesPermissionEnforcement}. */
export interface OwnerEnforcementOptions {
  readonly authorizer: Authorizer
  /** Finds the resource of an owner's kind, also of extension servers. */
  readonly discovery: Pick<DiscoveryIndex, 'find'>
}

interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blockOwnerDeletion?: boolean | undefined
}

/**
 * Requires permission to delete an object for changes of its owner references, and permission to update the finalizers of an owner
 * for blockOwnerDeletion (plugin/pkg/admission/gc). Creates need no permission for the references themselves.
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

/** Old kubelets update the status without owner references. The status update ignores them. */
function isPodStatus({ resource, subresource }: AdmissionAttributes): boolean {
  return resource.kind.group === '' && resource.kind.plural === 'pods' && subresource === 'status'
}

function ownersOf(object: MutableObject | undefined): readonly OwnerReference[] {
  return (object?.metadata?.ownerReferences ?? []) as readonly OwnerReference[]
}

/** The owners that the change newly blocks from deletion. */
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

/**
 * The permission that blocking an owner requires, or undefined when its kind is not served. Namespaced owners are in the namespace
 * of the object.
 */
function finalizersOf(
  discovery: Pick<DiscoveryIndex, 'find'>,
  { apiVersion, kind, name }: OwnerReference,
  namespace: string,
): About | undefined {
  const { group, version } = parseGroupVersion(apiVersion)
  const served = discovery.find(group, version)
  // Resources of extension servers have their name under another key, as in aggregated discovery.
  const candidates = [...(served?.resources ?? []), ...(served?.remote?.resources ?? [])] as readonly {
    readonly name?: string | undefined
    readonly resource?: string | undefined
    readonly scope?: string | undefined
    readonly responseKind?: { readonly kind?: string | undefined } | undefined
  }[]
  const found = candidates.findLast(({ responseKind: { kind: shown = '' } = {} }) => matchesKind(kind, shown))
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

/** Matches kinds in lower case too, as client-side mappers do. */
function matchesKind(wanted: string, kind: string): boolean {
  return wanted === kind || wanted === kind.toLowerCase()
}

function unknownOwner({ apiVersion, kind }: OwnerReference): string {
  const why = `no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`
  return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`
}

/** Reason and error of a decision as Go prints them. The error is always nil here. */
function because({ reason }: Decision): string {
  return `${reason}, <nil>`
}
