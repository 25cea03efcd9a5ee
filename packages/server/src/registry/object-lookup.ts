import { isPathSegmentName } from '@kubewright/base'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { ObjectAccess } from './object-access.ts'

/** Names a resource that admission looks at: group, version, plural. */
export type ResourceName = readonly [group: string, version: string, plural: string]

/** An object that others may be looking at too. */
export type SharedObject = Readonly<MutableObject>

/** How admission plugins see the cluster: through the caches, and past them where it matters. */
export class ObjectLookup {
  readonly #parts: ObjectAccess

  constructor(parts: ObjectAccess) {
    this.#parts = parts
  }

  /** The object from the cache, or from the store when the cache does not have it: it may be newer than the cache. */
  async find(name: ResourceName, namespace: string, object: string): Promise<SharedObject | undefined> {
    const resource = this.#resource(name)
    if (!resource || !canExist(object)) return undefined
    const { registry } = this.#parts
    const cache = await registry.feed.cache(resource.storage.prefix)
    return cache.get(registry.keyOf(resource, namespace, object))?.object ?? this.live(name, namespace, object)
  }

  /** The object as the store has it now. */
  async live(name: ResourceName, namespace: string, object: string): Promise<SharedObject | undefined> {
    const resource = canExist(object) ? this.#resource(name) : undefined
    return resource && (await this.#parts.registry.find(resource, namespace, object))?.object
  }

  /** All objects of a namespace, or of the cluster when the resource has no namespaces, from the cache. */
  async list(name: ResourceName, namespace = ''): Promise<SharedObject[]> {
    const resource = this.#resource(name)
    if (!resource) return []
    const { prefix } = resource.storage
    const cache = await this.#parts.registry.feed.cache(prefix)
    const scope = resource.kind.scope === 'Namespaced' && namespace !== '' ? `${namespace}/` : ''
    return cache.list(prefix + scope).map((stored) => stored.object)
  }

  #resource([group, version, plural]: ResourceName): Resource | undefined {
    return this.#parts.resources.find(group, version, plural)
  }
}

/** Names come from fields that nobody has checked yet. */
function canExist(name: string): boolean {
  return name !== '' && isPathSegmentName(name, false).length === 0
}
