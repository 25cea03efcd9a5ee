import type { KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'

interface Known {
  readonly uid: string
  readonly data: Map<string, string>
}

/** An object whose data the operator has lost. */
export interface ReplacedData {
  readonly id: string
  /** The uid of the controller of the object; empty if it has none. */
  readonly owner: string
  readonly text: string
}

/** Follows the objects that hold data, to find those whose data the operator has lost. */
export class DataLog {
  /** By ID and owner: another owner with the same name has data of its own. */
  readonly #known = new Map<string, Known>()
  /** The objects that were created again for the same owner, or whose values were replaced. */
  readonly replaced: Map<string, ReplacedData> = new Map()
  /** The objects that a user has deleted or changed. */
  readonly #touched = new Set<string>()

  /** Records that a user changes or deletes an object, whose data the operator need not keep. */
  touch(id: string): void {
    this.#touched.add(id)
  }

  /** Records the result of a write of the operator. */
  see(object: KubeObject): void {
    if (object.kind !== 'Secret' && object.kind !== 'PersistentVolumeClaim') return
    const id = objectId(object)
    const { uid, ownerReferences = [] } = object.metadata
    const owner = ownerReferences.find(({ controller }) => controller)?.uid ?? ''
    const data = new Map(Object.entries((object as { data?: Record<string, string> }).data ?? {}))
    const known = this.#known.get(`${id} ${owner}`)
    const replace = (text: string): void => {
      if (!this.#touched.has(id) && !this.replaced.has(id)) this.replaced.set(id, { id, owner, text })
    }
    if (known === undefined) this.#known.set(`${id} ${owner}`, { uid, data })
    else if (known.uid !== uid) {
      // The same values again, such as a copy of another Secret, are no loss.
      const isSame = data.size > 0 && [...known.data].every(([key, value]) => data.get(key) === value)
      if (!isSame) replace(`${id} was deleted and created again`)
    } else {
      for (const [key, value] of data) {
        const first = known.data.get(key)
        if (first === undefined) known.data.set(key, value)
        else if (first !== value) replace(`data.${key} of ${id} was replaced`)
      }
    }
  }
}
