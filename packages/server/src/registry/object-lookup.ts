import { type Awaitable, isPathSegmentName } from '@kubewright/base'
import { andThen } from '../request/awaitable.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { ObjectAccess } from './object-access.ts'

/** Group, version and plural of a resource. */
export type ResourceName = readonly [group: string, version: string, plural: string]

/** An object of the cache, which must not be modified. */
export type SharedObject = Readonly<MutableObject>

/** Reads objects for admission plugins and controllers inside the server, from the caches or from the store. */
export class ObjectLookup {
  readonly #parts: ObjectAccess

  constructor(parts: ObjectAccess) {
    this.#parts = parts
  }

  /** The object from the cache, or from the store when the cache lacks it, because the cache may lag behind. */
  find(name: ResourceName, namespace: string, object: string): Awaitable<SharedObject | undefined> {
    const resource = this.#resource(name)
    if (!resource || !canExist(object)) return undefined
    const { registry } = this.#parts
    return andThen(
      registry.feed.cache(resource.storage.prefix),
      (cache) => cache.get(registry.keyOf(resource, namespace, object))?.object ?? this.live(name, namespace, object),
    )
  }

  /** The newest version of the object, from the store. */
  async live(name: ResourceName, namespace: string, object: string): Promise<SharedObject | undefined> {
    const resource = canExist(object) ? this.#resource(name) : undefined
    return resource && (await this.#parts.registry.find(resource, namespace, object))?.object
  }

  /** All objects of a namespace from the cache. Cluster-scoped resources ignore the namespace. */
  list(name: ResourceName, namespace = ''): Awaitable<SharedObject[]> {
    const resource = this.#resource(name)
    if (!resource) return []
    const { prefix } = resource.storage
    const scope = resource.kind.scope === 'Namespaced' && namespace !== '' ? `${namespace}/` : ''
    return andThen(this.#parts.registry.feed.cache(prefix), (cache) =>
      cache.list(prefix + scope).map((stored) => stored.object),
    )
  }

  #resource([group, version, plural]: ResourceName): Resource | undefined {
    return this.#parts.resources.find(group, version, plural)
  }
}

/** Rejects invalid names: they come from fields that are not validated yet. */
function canExist(name: string): boolean {
  return name !== '' && isPathSegmentName(name, false).length === 0
}
