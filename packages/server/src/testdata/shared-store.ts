import { MemoryStore } from '@kubewright/storage'

/** A store in memory that several servers of one process share, as they would share an etcd. */
export class SharedStore extends MemoryStore {
  readonly shared = true
}
