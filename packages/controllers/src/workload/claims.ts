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
import type { Client, Reader } from '@kubewright/client'

/** Which objects are an owner's by reference and selector, and which references must change. */
export interface Claims<T> {
  /** Controlled by the owner and selected. */
  readonly owned: readonly T[]
  /** Without a controller, selected: the owner should become their controller. */
  readonly adopt: readonly T[]
  /** Controlled by the owner but no longer selected: it should let them go. */
  readonly release: readonly T[]
}

/** Sorts out which of the objects belong to the owner. An owner that is being deleted neither adopts nor releases. */
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

/** The objects that an owner may have something to do with: those that it selects, and those that it controls. */
export async function listClaimable<K extends AnyKind>(
  client: Client,
  kind: K,
  owner: Owner & KubeObject,
  selector: Selector,
): Promise<readonly Infer<K>[]> {
  const { namespace = '' } = owner.metadata
  const selected: readonly Infer<K>[] = await client.list(kind, { namespace, selector })
  const controlled: readonly Infer<K>[] = await client.list(kind, { namespace, controlledBy: owner })
  const others = controlled.filter((object: KubeObject) => !selector.matches(object.metadata.labels))
  return others.length === 0 ? selected : [...selected, ...others]
}

/** What claims are settled with. */
export interface ClaimClients {
  readonly client: Client
  /** Reads from the server itself. */
  readonly api: Reader
}

/**
 * Makes the references as the claims ask and resolves to the objects that are the owner's afterwards. Before the first adoption the
 * owner is read from the server: one that is being deleted, or was replaced, must not take over anything.
 */
export async function settleClaims<K extends AnyKind, T extends KubeObject>(
  { client, api }: ClaimClients,
  ownerKind: AnyKind,
  owner: Owner & KubeObject,
  kind: K,
  claims: Claims<T>,
  extraFinalizers: readonly string[] = [],
): Promise<readonly T[]> {
  const { namespace = '' } = owner.metadata
  const owned: T[] = [...claims.owned]
  if (claims.adopt.length > 0) await assertAlive(api, ownerKind, owner)
  for (const object of claims.adopt) {
    const { name, uid } = object.metadata
    const metadata = {
      uid,
      ownerReferences: [controllerRef(owner)],
      ...(extraFinalizers.length > 0 ? { finalizers: [...extraFinalizers] } : {}),
    }
    try {
      // The kind's own type is T: the caller listed the objects of it.
      owned.push(
        (await client.patch(kind, { namespace, name }, JSON.stringify({ metadata }), { type: 'strategic' })) as T,
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  for (const object of claims.release) {
    const { name, uid } = object.metadata
    const references = [{ $patch: 'delete', uid: owner.metadata.uid }]
    const patch = JSON.stringify({ metadata: { uid, ownerReferences: references } })
    try {
      await client.patch(kind, { namespace, name }, patch, { type: 'strategic' })
    } catch (error) {
      // Gone, or replaced by another of that name: then there is nothing to release.
      if (!isNotFound(error) && !isInvalid(error)) throw error
    }
  }
  return owned
}

async function assertAlive(api: Reader, kind: AnyKind, owner: Owner & KubeObject): Promise<void> {
  const { namespace = '', name, uid } = owner.metadata
  const fresh: KubeObject = await api.get(kind, { namespace, name })
  if (fresh.metadata.uid !== uid) {
    throw new Error(`original ${kind.kind} ${namespace}/${name} is gone: got uid ${fresh.metadata.uid}, wanted ${uid}`)
  }
  if (fresh.metadata.deletionTimestamp !== undefined) {
    throw new Error(`${namespace}/${name} has just been deleted at ${fresh.metadata.deletionTimestamp}`)
  }
}
