import { defaultServedRelease, type ServedRelease } from '../codec/served-release.ts'
import { builtinOrigin } from './origin.ts'
import type { Resource } from './resource.ts'

/** A group version and its resources by plural. */
export interface GroupVersionResources {
  readonly group: string
  readonly version: string
  readonly resources: ReadonlyMap<string, Resource>
}

/** All resources that the server serves. Lookups are synchronous; a change takes effect for the next request. */
export class ResourceTable {
  /** The release of Kubernetes that the server serves. */
  readonly release: ServedRelease
  readonly #byGroupVersion = new Map<string, Map<string, Resource>>()
  /** The resources by storage prefix; undefined after a change until the next read. */
  #byPrefix: Map<string, Resource[]> | undefined
  readonly #listeners = new Set<(added: Resource | undefined) => void>()

  constructor(release: ServedRelease = defaultServedRelease) {
    this.release = release
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byGroupVersion.get(`${group}/${version}`)?.get(plural)
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#byGroupVersion.has(`${group}/${version}`)
  }

  hasGroup(group: string): boolean {
    for (const groupVersion of this.#byGroupVersion.keys()) {
      if (groupVersion.length > group.length && groupVersion[group.length] === '/' && groupVersion.startsWith(group)) {
        return true
      }
    }
    return false
  }

  /** Whether some version of the group has built-in resources. */
  hasBuiltins(group: string): boolean {
    for (const [groupVersion, resources] of this.#byGroupVersion) {
      if (groupVersion.slice(0, groupVersion.lastIndexOf('/')) !== group) continue
      for (const { origin } of resources.values()) if (origin === builtinOrigin) return true
    }
    return false
  }

  /** Adds a resource, or replaces the one of the same group, version and plural. */
  set(resource: Resource): void {
    const { group, version, plural } = resource.kind
    const key = `${group}/${version}`
    let resources = this.#byGroupVersion.get(key)
    if (!resources) this.#byGroupVersion.set(key, (resources = new Map()))
    resources.set(plural, resource)
    this.#changed(resource)
  }

  delete(group: string, version: string, plural: string): void {
    const key = `${group}/${version}`
    const resources = this.#byGroupVersion.get(key)
    if (!resources?.delete(plural)) return
    if (resources.size === 0) this.#byGroupVersion.delete(key)
    this.#changed(undefined)
  }

  /** Group versions in the order in which they were added. */
  groupVersions(): GroupVersionResources[] {
    return [...this.#byGroupVersion].map(([key, resources]) => {
      const at = key.indexOf('/')
      return { group: key.slice(0, at), version: key.slice(at + 1), resources }
    })
  }

  all(): Resource[] {
    return this.groupVersions().flatMap(({ resources }) => [...resources.values()])
  }

  /** All versions of the resources that are stored under a prefix. */
  storedUnder(prefix: string): readonly Resource[] {
    if (!this.#byPrefix) {
      this.#byPrefix = new Map()
      for (const resource of this.all()) {
        const known = this.#byPrefix.get(resource.storage.prefix)
        if (known) known.push(resource)
        else this.#byPrefix.set(resource.storage.prefix, [resource])
      }
    }
    return this.#byPrefix.get(prefix) ?? []
  }

  /** Calls the listener after every change, with the resource that was added or replaced, until the result is disposed. */
  onChange(listener: (added: Resource | undefined) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  #changed(added: Resource | undefined): void {
    this.#byPrefix = undefined
    for (const listener of this.#listeners) listener(added)
  }
}
