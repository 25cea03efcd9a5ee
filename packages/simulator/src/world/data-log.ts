import { controllerOf, type KubeObject } from '@kubewright/api'
import type { PersistentVolumeClaim } from '@kubewright/k8s'
import { objectId } from '../define/object-id.ts'

interface Known {
  readonly uid: string
  readonly data: Map<string, string>
}

interface DeletedClaim {
  readonly uid: string
  readonly isOwned: boolean
  /** Whether it had data of an object that exists. */
  readonly hasData: boolean
}

/** An object whose data the operator has lost. */
export interface ReplacedData {
  readonly id: string
  /** The uid of the controller of the object; empty if it has none. */
  readonly owner: string
  /** Whether it was deleted and created again. Otherwise its values were replaced. */
  readonly isRecreated: boolean
  /** Whether the operator has created it. */
  readonly isOwn: boolean
  readonly text: string
}

/** Follows the objects that hold data, to find those whose data the operator has lost. */
export class DataLog {
  /** By ID and owner: another owner with the same name has data of its own. */
  readonly #known = new Map<string, Known>()
  /** The objects that were created again for the same owner, or whose values were replaced. */
  readonly replaced: Map<string, ReplacedData> = new Map()
  /** When a user has created an object again that was deleted, at last. */
  #renewedAt: number | undefined
  /** The uids of objects without owner that may have belonged to the deleted one. */
  readonly #former = new Set<string>()
  /** The objects that a user has deleted or changed. */
  readonly #touched = new Set<string>()
  /** Whether a user has touched a Secret: the operator may derive others from it, such as a certificate from its authority. */
  #hasNewSecret = false
  /** The last volume claims that the operator has deleted, by ID. */
  readonly #deleted = new Map<string, DeletedClaim>()

  /** Whether a user has created an object again that was deleted. */
  get isRenewed(): boolean {
    return this.#renewedAt !== undefined
  }

  /** Records that a user changes or deletes an object, whose data the operator need not keep. */
  touch(id: string): void {
    this.#touched.add(id)
    if (id.startsWith('Secret ')) this.#hasNewSecret = true
  }

  /** Records that a user creates an object again that was deleted: objects without owner may have belonged to the former one. */
  renew(now: number): void {
    this.#renewedAt = now
    for (const [key, { uid }] of this.#known) {
      if (!key.endsWith(' ')) continue
      this.#former.add(uid)
      this.#known.delete(key)
    }
    for (const [id, { owner }] of this.replaced) if (owner === '') this.replaced.delete(id)
    for (const [id, { uid, isOwned }] of this.#deleted) {
      if (!isOwned) this.#deleted.set(id, { uid, isOwned, hasData: false })
    }
  }

  delete(object: KubeObject): void {
    if (object.kind !== 'PersistentVolumeClaim') return
    // A claim without a volume has no data.
    const hasData = (object as PersistentVolumeClaim).status?.phase === 'Bound'
    const isOwned = controllerOf(object) !== undefined
    const { uid } = object.metadata
    this.#deleted.set(objectId(object), { uid, isOwned, hasData: hasData && (isOwned || !this.#isFormer(object)) })
  }

  /** Whether the operator has deleted this object, which may still exist. */
  isDeleted(object: KubeObject): boolean {
    return this.#deleted.get(objectId(object))?.uid === object.metadata.uid
  }

  /**
   * All objects whose data the operator has lost, given the objects at the end of a run: also the claims that it has deleted
   * and that another controller has created again, such as that of a StatefulSet.
   */
  lostOf(objects: readonly KubeObject[]): readonly ReplacedData[] {
    const again = objects.filter((object) => {
      const id = objectId(object)
      const deleted = this.#deleted.get(id)
      if (!deleted?.hasData || this.replaced.has(id) || this.#touched.has(id)) return false
      return deleted.uid !== object.metadata.uid && object.metadata.deletionTimestamp === undefined
    })
    const texts = again.map((object) => {
      const id = objectId(object)
      const text = `${id} was deleted and created again`
      return { id, owner: controllerOf(object)?.uid ?? '', isRecreated: true, isOwn: false, text }
    })
    return [...this.replaced.values(), ...texts]
  }

  /**
   * Records the result of another write of the operator. During a fault, it may see an object that was deleted and created again as it was
   * before, and make something for it that it removes later.
   */
  see(object: KubeObject, isDuringFault = false): void {
    if (object.kind !== 'Secret' && object.kind !== 'PersistentVolumeClaim') return
    const id = objectId(object)
    const { uid } = object.metadata
    const owner = controllerOf(object)?.uid ?? ''
    const isFirst = !this.#known.has(`${id} ${owner}`)
    if (owner === '' && this.isRenewed && isDuringFault && isFirst) this.#former.add(uid)
    if (owner === '' && this.#former.has(uid)) return
    const data = new Map(Object.entries((object as { data?: Record<string, string> | undefined }).data ?? {}))
    const known = this.#known.get(`${id} ${owner}`)
    const replace = (text: string, isRecreated: boolean): void => {
      if (object.kind === 'Secret' && this.#hasNewSecret) return
      if (!this.#touched.has(id) && !this.replaced.has(id))
        this.replaced.set(id, { id, owner, isRecreated, isOwn: true, text })
    }
    if (known === undefined) this.#known.set(`${id} ${owner}`, { uid, data })
    else if (known.uid !== uid) {
      // The same values again, such as a copy of another Secret, are no loss.
      const isSame = data.size > 0 && [...known.data].every(([key, value]) => data.get(key) === value)
      if (!isSame) replace(`${id} was deleted and created again`, true)
    } else {
      for (const [key, value] of data) {
        const first = known.data.get(key)
        if (first === undefined) known.data.set(key, value)
        else if (first !== value) replace(`data.${key} of ${id} was replaced`, false)
      }
    }
  }

  /** Whether an object may have belonged to an object that was deleted and created again. */
  #isFormer({ metadata: { uid, creationTimestamp } }: KubeObject): boolean {
    if (this.#renewedAt === undefined) return false
    if (this.#former.has(uid)) return true
    const isNew = [...this.#known.values()].some((known) => known.uid === uid)
    return !isNew && Date.parse(`${creationTimestamp}`) <= this.#renewedAt
  }
}
