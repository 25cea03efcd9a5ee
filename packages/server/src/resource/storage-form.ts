import type { MutableObject } from './object.ts'
import type { StoredObject } from './stored-object.ts'

/**
 * How stored objects become what clients of one version see. An object that is stored that way is passed through, so that its bytes
 * are the answer.
 */
export interface VersionedStorage {
  /** What clients of this version see; undefined when {@link VersionedStorage.load} has to be waited for first. */
  readonly peek: (stored: StoredObject) => StoredObject | undefined
  /** Makes `peek` answer for these objects; throws what the client is to be told. */
  readonly load: (stored: readonly StoredObject[]) => Promise<void>
  /** The object as it is to be stored; may change the one that it is given. */
  readonly toStorage: (object: MutableObject) => MutableObject | Promise<MutableObject>
  /** Told what {@link VersionedStorage.toStorage} became, so that reading it need not look at it again. */
  readonly wrote: (stored: StoredObject) => void
}

/** Where the objects of a resource are stored. */
export interface StorageLocation {
  /** Such as `/registry/apps/deployments/`. */
  readonly prefix: string
  /** apiVersion of the stored form. */
  readonly apiVersion: string
  readonly kind: string
}
