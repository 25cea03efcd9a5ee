import { gvkOf, type KubeObject } from '@kubewright/api'

/** Finalizer of an owner that waits until its dependents are gone. */
export const foregroundFinalizer = 'foregroundDeletion'
/** Finalizer of an owner that waits until its dependents no longer name it. */
export const orphanFinalizer = 'orphan'

/** Where an object is: what is needed to ask the server for it. */
export interface ObjectPlace {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent for objects outside of namespaces. */
  readonly namespace?: string | undefined
}

/** A reference to an owner, as objects carry it. */
export interface OwnerLink {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean | undefined
  readonly blockOwnerDeletion?: boolean | undefined
}

/** An object of the graph. */
export interface GraphNode {
  readonly uid: string
  readonly place: ObjectPlace
  readonly owners: readonly OwnerLink[]
  /** Known from references only: nobody has seen the object itself. */
  readonly virtual: boolean
  readonly beingDeleted: boolean
  /** It waits, with the foreground finalizer, for its dependents to go. */
  readonly deletingDependents: boolean
}

/** A reference to an owner that lives in another namespace, and so can never be right. */
export interface MisplacedOwner {
  readonly dependent: GraphNode
  readonly owner: OwnerLink
}

/** What a change of the graph asks for, by uid. */
export interface GraphWork {
  /** Look whether it must be deleted. */
  readonly look: readonly string[]
  /** Let its dependents go, then the object. */
  readonly orphan: readonly string[]
  /** Tell people. */
  readonly misplaced: readonly MisplacedOwner[]
}

interface Entry {
  node: GraphNode
  readonly dependents: Set<string>
}

/**
 * Who owns whom, by uid, as far as watches have told. It decides nothing: it says which objects deserve a look at the server's
 * state, and that look decides.
 */
export class ObjectGraph {
  readonly #entries = new Map<string, Entry>()

  get size(): number {
    return this.#entries.size
  }

  node(uid: string): GraphNode | undefined {
    return this.#entries.get(uid)?.node
  }

  /** The objects that name this one as their owner. */
  dependents(uid: string): GraphNode[] {
    return [...(this.#entries.get(uid)?.dependents ?? [])].flatMap((dependent) => this.node(dependent) ?? [])
  }

  /** Those of the dependents that keep a foreground deletion waiting. */
  blocking(uid: string): GraphNode[] {
    return this.dependents(uid).filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  }

  /** Takes an object as it is now. */
  set(object: KubeObject): GraphWork {
    const { uid, deletionTimestamp, finalizers = [], ownerReferences: owners = [] } = object.metadata
    const before = this.node(uid)
    const beingDeleted = deletionTimestamp !== undefined
    const node: GraphNode = {
      uid,
      place: placeOf(object),
      owners,
      virtual: false,
      beingDeleted,
      // Once begun it goes on, even if somebody takes the finalizer away.
      deletingDependents:
        before?.deletingDependents === true || (beingDeleted && finalizers.includes(foregroundFinalizer)),
    }
    const look = new Set<string>()
    const misplaced: MisplacedOwner[] = []
    const entry = this.#entries.get(uid)
    if (entry === undefined) this.#entries.set(uid, { node, dependents: new Set() })
    else entry.node = node
    // Now it is known whether the references that spoke of it were right.
    if (before?.virtual) this.#checkReferences(node, look, misplaced)
    this.#link(before?.owners ?? [], node, look, misplaced)
    if (node.deletingDependents && before?.deletingDependents !== true) {
      for (const dependent of this.#entries.get(uid)?.dependents ?? []) look.add(dependent)
      look.add(uid)
    }
    const orphans = beingDeleted && finalizers.includes(orphanFinalizer)
    return { look: [...look], orphan: orphans ? [uid] : [], misplaced }
  }

  /** Forgets an object that is gone, or that nobody watches any more: who depends on it has to be looked at. */
  delete(uid: string): GraphWork {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return nothing
    const look = new Set<string>(entry.dependents)
    this.#link(entry.node.owners, { ...entry.node, owners: [] }, look, [])
    // The references are still there; the object may come back, seen through another version of its kind.
    if (entry.dependents.size > 0) entry.node = virtualNode({ ...entry.node.place, uid }, entry.node.place.namespace)
    else this.#entries.delete(uid)
    return { look: [...look].filter((other) => other !== uid), orphan: [], misplaced: [] }
  }

  /** Whether all owners of an object are there, as its references say, and stay: then there is nothing to do about it. */
  hasSolidOwners(uid: string): boolean {
    const node = this.node(uid)
    if (node === undefined) return false
    return node.owners.every((owner) => {
      const actual = this.node(owner.uid)
      if (actual === undefined || actual.virtual || actual.deletingDependents) return false
      return names(owner, actual.place, node.place)
    })
  }

  #checkReferences(node: GraphNode, look: Set<string>, misplaced: MisplacedOwner[]): void {
    for (const dependent of this.dependents(node.uid)) {
      for (const owner of dependent.owners) {
        if (owner.uid !== node.uid || names(owner, node.place, dependent.place)) continue
        look.add(dependent.uid)
        if (isElsewhere(node.place, dependent.place)) misplaced.push({ dependent, owner })
      }
    }
  }

  /** Moves the object from the owners that it had to those that it has; owners that this concerns are to be looked at. */
  #link(before: readonly OwnerLink[], node: GraphNode, look: Set<string>, misplaced: MisplacedOwner[]): void {
    const had = new Map(before.map((owner) => [owner.uid, owner]))
    const has = new Map(node.owners.map((owner) => [owner.uid, owner]))
    for (const [uid, owner] of had) {
      const now = has.get(uid)
      const owning = this.#entries.get(uid)
      const released = now === undefined || (owner.blockOwnerDeletion === true && now.blockOwnerDeletion !== true)
      if (released && owning?.node.deletingDependents) look.add(uid)
      if (now !== undefined) continue
      owning?.dependents.delete(node.uid)
      // What nobody has seen exists for its dependents only.
      if (owning?.node.virtual && owning.dependents.size === 0) this.#entries.delete(uid)
    }
    for (const [uid, owner] of has) {
      let owning = this.#entries.get(uid)
      if (owning === undefined) {
        owning = { node: virtualNode(owner, node.place.namespace), dependents: new Set() }
        this.#entries.set(uid, owning)
      }
      owning.dependents.add(node.uid)
      if (had.has(uid)) continue
      // The owner may never have existed, may be gone, may be going, or may be another object than the reference says.
      if (owning.node.virtual || owning.node.deletingDependents || !names(owner, owning.node.place, node.place)) {
        look.add(node.uid)
        if (!owning.node.virtual && isElsewhere(owning.node.place, node.place))
          misplaced.push({ dependent: node, owner })
      }
    }
  }
}

const nothing: GraphWork = { look: [], orphan: [], misplaced: [] }

function virtualNode(owner: OwnerLink, namespace: string | undefined): GraphNode {
  const { apiVersion, kind, name, uid } = owner
  return {
    uid,
    place: { apiVersion, kind, name, namespace },
    owners: [],
    virtual: true,
    beingDeleted: false,
    deletingDependents: false,
  }
}

function placeOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectPlace {
  return { apiVersion, kind, name, namespace }
}

/** Whether an owner lives in a namespace that is not the dependent's. */
const isElsewhere = (owner: ObjectPlace, dependent: ObjectPlace): boolean =>
  owner.namespace !== undefined && owner.namespace !== dependent.namespace

/** Whether a reference is about this object; the version may be another one. */
function names(owner: OwnerLink, place: ObjectPlace, dependent: ObjectPlace): boolean {
  return (
    owner.kind === place.kind &&
    owner.name === place.name &&
    gvkOf(owner).group === gvkOf(place).group &&
    !isElsewhere(place, dependent)
  )
}
