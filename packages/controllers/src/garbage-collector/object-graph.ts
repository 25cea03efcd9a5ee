import { gvkOf, type KubeObject } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'

/** The finalizer of an owner whose deletion waits until its dependents are deleted. */
export const foregroundFinalizer = 'foregroundDeletion'
/** The finalizer of an owner whose deletion waits until its dependents no longer refer to it. */
export const orphanFinalizer = 'orphan'

/** The reference needed to read an object from the server. */
export interface ObjectPlace {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined
}

/** An owner reference. */
export interface OwnerLink {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean | undefined
  readonly blockOwnerDeletion?: boolean | undefined
}

/** A node of the graph: an object and its owners. */
export interface GraphNode {
  readonly uid: string
  readonly place: ObjectPlace
  readonly owners: readonly OwnerLink[]
  /** Known only from owner references: no watch has delivered the object itself. */
  readonly virtual: boolean
  readonly beingDeleted: boolean
  /** Whether a foreground deletion of the object waits for its dependents. */
  readonly deletingDependents: boolean
}

/** A reference to an owner in another namespace, which is invalid. */
export interface MisplacedOwner {
  readonly dependent: GraphNode
  readonly owner: OwnerLink
}

/** The work that a change of the graph causes, by uid. */
export interface GraphWork {
  /** Objects that may have to be deleted. */
  readonly look: readonly string[]
  /** Objects whose dependents must be orphaned. */
  readonly orphan: readonly string[]
  /** Invalid references to report in Events. */
  readonly misplaced: readonly MisplacedOwner[]
}

interface Entry {
  node: GraphNode
  /** Undefined when there were none: most objects have no dependents. */
  dependents: Set<string> | undefined
}

/**
 * The graph of owners and dependents by uid, as seen by the watches. It makes no decisions: it only selects the objects
 * to evaluate against the state of the server, because the watches may be stale.
 */
export class ObjectGraph {
  readonly #entries = new Map<string, Entry>()

  get size(): number {
    return this.#entries.size
  }

  node(uid: string): GraphNode | undefined {
    return this.#entries.get(uid)?.node
  }

  /** The objects with an owner reference to this one. */
  dependents(uid: string): GraphNode[] {
    return [...(this.#entries.get(uid)?.dependents ?? [])].flatMap((dependent) => this.node(dependent) ?? [])
  }

  /** The dependents that block a foreground deletion. */
  blocking(uid: string): GraphNode[] {
    return this.dependents(uid).filter(({ owners }) =>
      owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  }

  /** Adds or updates an object. */
  set(object: KubeObject): GraphWork {
    const { uid, deletionTimestamp, finalizers = [], ownerReferences: owners = [] } = object.metadata
    const before = this.node(uid)
    const beingDeleted = deletionTimestamp !== undefined
    // Most changes concern the spec or the status.
    if (before !== undefined && !beingDeleted && isSame(before, object, owners)) return nothing
    const node: GraphNode = {
      uid,
      place: placeOf(object),
      owners,
      virtual: false,
      beingDeleted,
      // A foreground deletion cannot be cancelled, even if the finalizer is removed.
      deletingDependents:
        before?.deletingDependents === true || (beingDeleted && finalizers.includes(foregroundFinalizer)),
    }
    const look = new Set<string>()
    const misplaced: MisplacedOwner[] = []
    const entry = this.#entries.get(uid)
    if (entry === undefined) this.#entries.set(uid, { node, dependents: undefined })
    else entry.node = node
    // The object was known only from references: now these can be validated.
    if (before?.virtual) this.#checkReferences(node, look, misplaced)
    this.#link(before?.owners ?? [], node, look, misplaced)
    if (node.deletingDependents && before?.deletingDependents !== true) {
      for (const dependent of this.#entries.get(uid)?.dependents ?? []) look.add(dependent)
      look.add(uid)
    }
    const orphans = beingDeleted && finalizers.includes(orphanFinalizer)
    return { look: [...look], orphan: orphans ? [uid] : [], misplaced }
  }

  /** Removes an object that was deleted or is no longer watched. Its dependents must be evaluated. */
  delete(uid: string): GraphWork {
    const entry = this.#entries.get(uid)
    if (entry === undefined) return nothing
    const look = new Set<string>(entry.dependents)
    this.#link(entry.node.owners, { ...entry.node, owners: [] }, look, [])
    // Dependents still refer to the object, and it may reappear in another version of its kind.
    if (entry.dependents?.size) entry.node = virtualNode({ ...entry.node.place, uid }, entry.node.place.namespace)
    else this.#entries.delete(uid)
    return { look: [...look].filter((other) => other !== uid), orphan: [], misplaced: [] }
  }

  /**
   * Whether all owners of an object exist, match its references and are not in foreground deletion. Such an object
   * needs no work.
   */
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

  /** Updates the object's links from its former to its current owners, and collects the objects to evaluate. */
  #link(before: readonly OwnerLink[], node: GraphNode, look: Set<string>, misplaced: MisplacedOwner[]): void {
    const had = new Map(before.map((owner) => [owner.uid, owner]))
    const has = new Map(node.owners.map((owner) => [owner.uid, owner]))
    for (const [uid, owner] of had) {
      const now = has.get(uid)
      const owning = this.#entries.get(uid)
      const released = now === undefined || (owner.blockOwnerDeletion === true && now.blockOwnerDeletion !== true)
      if (released && owning?.node.deletingDependents) look.add(uid)
      if (now !== undefined) continue
      owning?.dependents?.delete(node.uid)
      // A virtual node exists only as long as it has dependents.
      if (owning?.node.virtual && !owning.dependents?.size) this.#entries.delete(uid)
    }
    for (const [uid, owner] of has) {
      let owning = this.#entries.get(uid)
      if (owning === undefined) {
        owning = { node: virtualNode(owner, node.place.namespace), dependents: undefined }
        this.#entries.set(uid, owning)
      }
      owning.dependents ??= new Set()
      owning.dependents.add(node.uid)
      if (had.has(uid)) continue
      // The owner may not exist, may be in foreground deletion, or may be another object than the reference names.
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

/** Whether an object that is not being deleted has the node that the graph has. */
function isSame(node: GraphNode, { apiVersion }: KubeObject, owners: readonly OwnerLink[]): boolean {
  if (node.virtual || node.beingDeleted || node.deletingDependents || node.place.apiVersion !== apiVersion) return false
  return node.owners.length === owners.length && (owners.length === 0 || deepEqual(node.owners, owners))
}

function placeOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): ObjectPlace {
  return { apiVersion, kind, name, namespace }
}

/** Whether the owner is in another namespace than the dependent. */
const isElsewhere = (owner: ObjectPlace, dependent: ObjectPlace): boolean =>
  owner.namespace !== undefined && owner.namespace !== dependent.namespace

/** Whether a reference matches this object; the API versions may differ. */
function names(owner: OwnerLink, place: ObjectPlace, dependent: ObjectPlace): boolean {
  return (
    owner.kind === place.kind &&
    owner.name === place.name &&
    gvkOf(owner).group === gvkOf(place).group &&
    !isElsewhere(place, dependent)
  )
}
