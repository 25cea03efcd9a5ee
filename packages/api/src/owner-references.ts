import { KubewrightError } from '@kubewright/base'
import { gvkOf } from './gvk.ts'
import type { HasMetaDraft, OwnerReference } from './object-meta.ts'

/** An object that can own others: it was read from the API, so it has a uid. */
export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly uid: string }
}

/** An object whose owner references are read. */
export interface Owned {
  readonly metadata: { readonly ownerReferences?: readonly Readonly<OwnerReference>[] | undefined }
}

/** The object has another controller already; an object has one at most. */
export class AlreadyOwnedError extends KubewrightError {
  /** The reference to the controller that the object has. */
  readonly owner: Readonly<OwnerReference>

  static {
    const name = { value: 'AlreadyOwnedError', writable: true, configurable: true }
    Object.defineProperty(AlreadyOwnedError.prototype, 'name', name)
  }

  constructor(object: HasMetaDraft, owner: Readonly<OwnerReference>) {
    const { namespace = '', name } = object.metadata
    super(
      'KW_ALREADY_OWNED',
      `Object ${namespace}/${name} is already owned by another ${owner.kind} controller ${owner.name}`,
    )
    this.owner = owner
  }
}

/** The reference that makes `owner` the controller of an object. */
export function controllerRef(owner: Owner): OwnerReference {
  return { ...ownerRef(owner), controller: true, blockOwnerDeletion: true }
}

/** The reference that makes `owner` one of the owners of an object. */
export function ownerRef(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid }
}

/**
 * Makes `owner` the controller of the draft: the garbage collector deletes it with the owner, and the owner's controller is told
 * of its changes. Refuses what the garbage collector would not follow (another namespace) and a second controller.
 */
export function setControllerReference(owner: Owner, draft: HasMetaDraft): void {
  const reference = controllerRef(owner)
  checkNamespaces(owner, draft)
  const existing = controllerOf(draft)
  if (existing !== undefined && !referToSameObject(existing, reference)) throw new AlreadyOwnedError(draft, existing)
  upsert(draft, reference)
}

/** Makes `owner` one of the owners of the draft, without being its controller. */
export function setOwnerReference(owner: Owner, draft: HasMetaDraft): void {
  checkNamespaces(owner, draft)
  upsert(draft, ownerRef(owner))
}

/** Removes the references to `owner` from the draft; true when the draft changed. */
export function removeOwnerReference(owner: Owner, draft: HasMetaDraft): boolean {
  const reference = ownerRef(owner)
  const before = draft.metadata.ownerReferences ?? []
  const after = before.filter((existing) => !referToSameObject(existing, reference))
  if (after.length === before.length) return false
  draft.metadata.ownerReferences = after
  return true
}

/** The reference to the controller of an object, or undefined. */
export function controllerOf(object: Owned): Readonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

/** True when `owner`, this very object and not another of that name, is the controller of `object`. */
export function isControlledBy(object: Owned, owner: { readonly metadata: { readonly uid: string } }): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/** True when `owner`, this very object and not another of that name, is among the owners of `object`. */
export function isOwnedBy(object: Owned, owner: { readonly metadata: { readonly uid: string } }): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === owner.metadata.uid) ?? false
}

// Versions of one group name the same objects, so they are ignored, as controller-runtime does.
function referToSameObject(a: Readonly<OwnerReference>, b: Readonly<OwnerReference>): boolean {
  return a.name === b.name && a.kind === b.kind && gvkOf(a).group === gvkOf(b).group
}

function upsert(draft: HasMetaDraft, reference: OwnerReference): void {
  const references = draft.metadata.ownerReferences ?? []
  const at = references.findIndex((existing) => referToSameObject(existing, reference))
  draft.metadata.ownerReferences =
    at < 0 ? [...references, reference] : references.map((existing, i) => (i === at ? reference : existing))
}

function checkNamespaces(owner: Owner, draft: HasMetaDraft): void {
  const ownerNamespace = owner.metadata.namespace ?? ''
  const namespace = draft.metadata.namespace ?? ''
  if (ownerNamespace === '' || ownerNamespace === namespace) return
  throw new KubewrightError(
    'KW_OWNER_NAMESPACE',
    namespace === ''
      ? `cluster-scoped resource must not have a namespace-scoped owner, owner's namespace ${ownerNamespace}`
      : `cross-namespace owner references are disallowed, owner's namespace ${ownerNamespace}, obj's namespace ${namespace}`,
  )
}
