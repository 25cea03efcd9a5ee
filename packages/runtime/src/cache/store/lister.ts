import { formatKey, type GroupResource, type KubeObject, newNotFound, type Selector } from '@kubewright/api'
import type { Store } from './store.ts'

/** Reads the objects of one namespace, or of a cluster-scoped resource, by name. */
export interface NamespaceLister<T extends KubeObject> {
  /** The object; throws a NotFound ApiError when the store does not have it. */
  get(name: string): T
  /** The object, or undefined when the store does not have it. */
  find(name: string): T | undefined
  /** The objects that match the selector, ordered by name. */
  list(selector?: Selector): T[]
}

/** Reads the objects of a store. Never sends a request. */
export class Lister<T extends KubeObject> implements NamespaceLister<T> {
  readonly #store: Store<T>
  readonly #resource: GroupResource

  constructor(store: Store<T>, resource: GroupResource) {
    this.#store = store
    this.#resource = resource
  }

  get(name: string): T {
    return this.#get(name, undefined)
  }

  find(name: string): T | undefined {
    return this.#store.get(name)
  }

  /** The objects of all namespaces that match the selector, ordered by key. */
  list(selector?: Selector): T[] {
    return this.#store.list(selector === undefined ? {} : { selector })
  }

  /** A lister for one namespace. */
  namespace(namespace: string): NamespaceLister<T> {
    return {
      get: (name) => this.#get(name, namespace),
      find: (name) => this.#store.get(formatKey(name, namespace)),
      list: (selector) => this.#store.list(selector === undefined ? { namespace } : { namespace, selector }),
    }
  }

  #get(name: string, namespace: string | undefined): T {
    const object = this.#store.get(formatKey(name, namespace))
    if (object === undefined) throw newNotFound(this.#resource, name)
    return object
  }
}
