import { KubewrightError } from '@kubewright/base'
import { gvkOf } from './gvk.ts'
import type { HasMetaDraft, OwnerReference } from './object-meta.ts'

/** An object that can own others. It was read from the API, so it has a uid. */
export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined; readonly uid: string }
}

/** An object that may have owner references. */
export interface Owned {
  readonly metadata: { readonly ownerReferences?: readonly Readonly<OwnerReference>[] | undefined }
}

/** The object already has another controller; an object can have only one. */
export class AlreadyOwnedError extends KubewrightError {
  /** The reference to the object's current controller. */
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

/** The owner reference that makes `owner` the controller of an object. */
export function controllerRef(owner: Owner): OwnerReference {
  return { ...ownerRef(owner), controller: true, blockOwnerDeletion: true }
}

/** The owner reference that makes `owner` one of the owners of an object. */
export function ownerRef(owner: Owner): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid }
}

/**
 * Makes `owner` the controller of the draft: garbage collection deletes the object with its owner, and changes of the
 * object trigger a reconcile of the owner. Throws when the owner is in another namespace, where garbage collection does
 * not follow the reference, and {@link AlreadyOwnedError} when the draft has another controller.
 */
export function setControllerReference(owner: Owner, draft: HasMetaDraft): void {
  const reference = controllerRef(owner)
  checkNamespaces(owner, draft)
  const existing = controllerOf(draft)
  if (existing !== undefined && !referToSameObject(existing, reference)) throw new AlreadyOwnedError(draft, existing)
  upsert(draft, reference)
}

/** Makes `owner` one of the owners of the draft, but not its controller. Throws when the owner is in another namespace. */
export function setOwnerReference(owner: Owner, draft: HasMetaDraft): void {
  checkNamespaces(owner, draft)
  upsert(draft, ownerRef(owner))
}

/** Removes the references to `owner` from the draft. Returns whether the draft changed. */
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

/** True when `owner` is the controller of `object`. Compares uids, so another object with the same name does not count. */
export function isControlledBy(object: Owned, owner: { readonly metadata: { readonly uid: string } }): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/**
 * True when `owner` is among the owners of `object`. Compares uids, so another object with the same name does not
 * count.
 */
export function isOwnedBy(object: Owned, owner: { readonly metadata: { readonly uid: string } }): boolean {
  return object.metadata.ownerReferences?.some((reference) => reference.uid === owner.metadata.uid) ?? false
}

// All versions of a group share their objects, so only the group is compared, as in controller-runtime.
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
