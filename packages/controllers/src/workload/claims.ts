import {
  type AnyKind,
  controllerOf,
  controllerRef,
  type Infer,
  isInvalid,
  isNotFound,
  type KubeObject,
  type Owner,
  type Selector,
} from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { Client, Reader } from '@kubewright/client'

/** The objects that belong to an owner, and those whose owner reference must change. */
export interface Claims<T> {
  /** Controlled by the owner and selected. */
  readonly owned: readonly T[]
  /** Selected, without a controller: the owner must become their controller. */
  readonly adopt: readonly T[]
  /** Controlled by the owner, but no longer selected: the owner must release them. */
  readonly release: readonly T[]
}

/** Decides which objects belong to the owner. An owner that is being deleted neither adopts nor releases. */
export function planClaims<T extends KubeObject>(
  owner: Owner & KubeObject,
  selector: Selector,
  objects: readonly T[],
  mayAdopt: (object: T) => boolean = () => true,
): Claims<T> {
  const owned: T[] = []
  const adopt: T[] = []
  const release: T[] = []
  const ownerGoes = owner.metadata.deletionTimestamp !== undefined
  for (const object of objects) {
    const controller = controllerOf(object)
    const selected = selector.matches(object.metadata.labels)
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue
      if (selected) owned.push(object)
      else if (!ownerGoes) release.push(object)
    } else if (selected && !ownerGoes && object.metadata.deletionTimestamp === undefined && mayAdopt(object)) {
      adopt.push(object)
    }
  }
  return { owned, adopt, release }
}

/** The clients of {@link claimDependents}. */
export interface ClaimClients {
  readonly client: Client
  /** Reads from the server instead of the cache. */
  readonly api: Reader
}

/** Parameters of {@link claimDependents}. */
export interface ClaimRequest<K extends AnyKind> {
  readonly ownerKind: AnyKind
  readonly owner: Owner & KubeObject
  /** The kind of the dependents. */
  readonly kind: K
  readonly selector: Selector
  /** Whether an object without a controller may be adopted. @default always */
  readonly mayAdopt?: ((object: Infer<K>) => boolean) | undefined
  /** Whether the owner releases dependents that it no longer selects. @default true */
  readonly releases?: boolean | undefined
  /** Finalizers that an adopted object receives. @default none */
  readonly finalizers?: readonly string[] | undefined
}

/**
 * Finds the dependents of an owner. Adopts objects that the selector matches, releases those that it no longer matches,
 * and resolves to the objects that the owner controls afterwards. Reads the owner from the server before the first
 * adoption, and throws when the owner is being deleted or was replaced: such an owner must not adopt.
 */
export async function claimDependents<K extends AnyKind>(
  clients: ClaimClients,
  request: ClaimRequest<K>,
): Promise<readonly Infer<K>[]> {
  const { owner, selector, mayAdopt } = request
  const candidates = await listCandidates(clients.client, request)
  // For a generic kind the compiler cannot infer that its objects are KubeObjects.
  const claims = planClaims(
    owner,
    selector,
    candidates as readonly KubeObject[],
    mayAdopt as ((object: KubeObject) => boolean) | undefined,
  )
  if (claims.adopt.length > 0) await assertAlive(clients.api, request.ownerKind, owner)
  const owned = [...claims.owned]
  for (const object of claims.adopt) {
    const adopted = await adopt(clients.client, request, object)
    if (adopted !== undefined) owned.push(adopted)
  }
  for (const object of claims.release) await release(clients.client, request, object)
  return owned as readonly Infer<K>[]
}

/** The selected objects and, when the owner releases, those that it controls. */
async function listCandidates<K extends AnyKind>(
  client: Client,
  { kind, owner, selector, releases = true }: ClaimRequest<K>,
): Promise<readonly Infer<K>[]> {
  const { namespace = '' } = owner.metadata
  const selected: readonly Infer<K>[] = await client.list(kind, { namespace, selector })
  if (!releases) return selected
  const controlled: readonly Infer<K>[] = await client.list(kind, { namespace, controlledBy: owner })
  const others = controlled.filter((object: KubeObject) => !selector.matches(object.metadata.labels))
  return others.length === 0 ? selected : [...selected, ...others]
}

/** Makes the owner the controller of an object. Resolves to undefined when the object is gone. */
async function adopt<K extends AnyKind>(
  client: Client,
  { kind, owner, finalizers = [] }: ClaimRequest<K>,
  { metadata: { namespace = '', name, uid } }: KubeObject,
): Promise<KubeObject | undefined> {
  const metadata = {
    uid,
    ownerReferences: [controllerRef(owner)],
    ...(finalizers.length > 0 ? { finalizers: [...finalizers] } : {}),
  }
  try {
    return await client.patch(kind, { namespace, name }, JSON.stringify({ metadata }), { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

async function release<K extends AnyKind>(
  client: Client,
  { kind, owner }: ClaimRequest<K>,
  { metadata: { namespace = '', name, uid } }: KubeObject,
): Promise<void> {
  const references = [{ $patch: 'delete', uid: owner.metadata.uid }]
  const patch = JSON.stringify({ metadata: { uid, ownerReferences: references } })
  try {
    await client.patch(kind, { namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    // The object is gone, or was replaced by another one of the same name.
    if (!isNotFound(error) && !isInvalid(error)) throw error
  }
}

async function assertAlive(api: Reader, kind: AnyKind, owner: Owner & KubeObject): Promise<void> {
  const { namespace = '', name, uid } = owner.metadata
  const fresh: KubeObject = await api.get(kind, { namespace, name })
  if (fresh.metadata.uid !== uid) {
    throw new CaughtError(
      `original ${kind.kind} ${namespace}/${name} is gone: got uid ${fresh.metadata.uid}, wanted ${uid}`,
    )
  }
  if (fresh.metadata.deletionTimestamp !== undefined) {
    throw new CaughtError(`${namespace}/${name} has just been deleted at ${fresh.metadata.deletionTimestamp}`)
  }
}
