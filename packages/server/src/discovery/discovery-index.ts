import { createHash } from 'node:crypto'
import { encodeJson } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { ResourceTable } from '../resource/resource-table.ts'
import { type DiscoveredResource, discoveredResource } from './discovered-resource.ts'
import { comparePriorities, type Priority, priorityOf } from './group-priority.ts'

/** A version of a group with its resources. */
export interface DiscoveredVersion {
  readonly version: string
  readonly resources: readonly DiscoveredResource[]
  /** Set when an extension server serves the version. */
  readonly remote?: RemoteVersion | undefined
}

/** A version that an extension server serves, as that server describes it. */
export interface RemoteVersion {
  readonly group: string
  readonly version: string
  readonly priority: Priority
  /** In the format of aggregated discovery. */
  readonly resources: readonly Readonly<Record<string, unknown>>[]
  /** The path of its OpenAPI v3 document with the content hash, or undefined when the server has none. */
  readonly openApi?: string | undefined
  /** Whether the last attempt to read the discovery of the extension server succeeded. */
  readonly freshness: 'Current' | 'Stale'
}

/** A version that an APIService without a service declares. This server may not serve it. */
export interface PromisedVersion {
  readonly group: string
  readonly version: string
  readonly priority: Priority
}

/** A group with its versions, preferred version first. */
export interface DiscoveredGroup {
  readonly name: string
  readonly versions: readonly DiscoveredVersion[]
}

/** An aggregated discovery document and its ETag. */
export interface AggregatedDocument {
  /** The encoded JSON. */
  readonly bytes: Buffer
  readonly etag: string
}

/** The content of all discovery documents, derived from the resource table and cached until it changes. */
export class DiscoveryIndex implements Disposable {
  readonly #resources: ResourceTable
  readonly #listening: Disposable
  // Derived from the resource table, #remote and #promised; undefined after a change until the next read.
  #groups: ReadonlyMap<string, DiscoveredGroup> | undefined
  #local: ReadonlyMap<string, DiscoveredGroup> | undefined
  #remote: readonly RemoteVersion[] = []
  #promised: readonly PromisedVersion[] = []
  #listed: ReadonlyMap<string, DiscoveredGroup> | undefined
  #aggregated: { core?: AggregatedDocument | undefined; groups?: AggregatedDocument | undefined } = {}

  constructor(resources: ResourceTable) {
    this.#resources = resources
    this.#listening = resources.onChange(() => this.#changed())
  }

  /** Every served group by name, in discovery order. The core group has the empty name. */
  get groups(): ReadonlyMap<string, DiscoveredGroup> {
    return (this.#groups ??= this.#collect(this.#remote))
  }

  /** The groups of the group list: all served groups, and those that only an APIService declares. */
  get listed(): ReadonlyMap<string, DiscoveredGroup> {
    if (this.#promised.length === 0) return this.groups
    return (this.#listed ??= this.#collect(this.#remote, this.#promised))
  }

  /** The groups that this server serves itself. */
  get local(): ReadonlyMap<string, DiscoveredGroup> {
    return (this.#local ??= this.#remote.length === 0 ? this.groups : this.#collect([]))
  }

  /** The versions of extension servers; a new array after every change. */
  get remote(): readonly RemoteVersion[] {
    return this.#remote
  }

  /** Sets the versions of extension servers. They replace local versions of the same name. */
  setRemote(versions: readonly RemoteVersion[]): void {
    this.#remote = versions
    this.#changed()
  }

  /** Sets the versions that APIServices without a service declare. */
  setPromised(versions: readonly PromisedVersion[]): void {
    if (deepEqual(versions, this.#promised)) return
    this.#promised = versions
    this.#listed = undefined
  }

  /** Whether some version of the group is served. Cheaper than {@link groups} after a change. */
  has(group: string): boolean {
    if (this.#groups?.has(group)) return true
    // The table also has resources that discovery omits.
    return this.#resources.hasGroup(group) || this.#remote.some((found) => found.group === group)
  }

  find(group: string, version: string): DiscoveredVersion | undefined {
    return this.groups.get(group)?.versions.find((found) => found.version === version)
  }

  /** The aggregated document of the core group or of all other groups (apidiscovery.k8s.io/v2). */
  aggregated(part: 'core' | 'groups'): AggregatedDocument {
    return (this.#aggregated[part] ??= aggregate(
      [...this.groups.values()].filter(({ name }) => (name === '') === (part === 'core')),
    ))
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }

  #changed(): void {
    this.#groups = undefined
    this.#listed = undefined
    this.#local = undefined
    this.#aggregated = {}
  }

  #collect(
    remote: readonly RemoteVersion[],
    promised: readonly PromisedVersion[] = [],
  ): ReadonlyMap<string, DiscoveredGroup> {
    const versions = new Map<string, (DiscoveredVersion & { readonly priority: Priority })[]>()
    const add = (group: string, found: DiscoveredVersion & { readonly priority: Priority }): void => {
      const known = versions.get(group)
      if (known) known.push(found)
      else versions.set(group, [found])
    }
    const elsewhere = new Set(remote.map(({ group, version }) => `${group}/${version}`))
    for (const { group, version, resources } of this.#resources.groupVersions()) {
      if (elsewhere.has(`${group}/${version}`)) continue
      const listed = [...resources.values()].filter(({ serving }) => !serving.unlisted)
      if (listed.length === 0) continue
      add(group, { version, resources: listed.map(discoveredResource), priority: priorityOf(group, version) })
    }
    for (const found of remote) {
      add(found.group, { version: found.version, resources: [], priority: found.priority, remote: found })
    }
    for (const { group, version, priority } of promised) {
      // A served version takes precedence over one that is only declared.
      if (versions.get(group)?.some((found) => found.version === version)) continue
      add(group, { version, resources: [], priority })
    }
    return new Map(
      [...versions]
        // The version of highest priority determines the position of its group.
        .map(([name, found]) => ({
          name,
          found,
          rank: found.reduce((rank, { priority }) => Math.max(rank, priority.group), 0),
        }))
        .sort((a, b) => b.rank - a.rank || (a.name < b.name ? -1 : 1))
        .map(({ name, found }) => [name, { name, versions: found.sort(comparePriorities) }]),
    )
  }
}

/** Joins the encoded resources, because every change of the table rebuilds the document. */
function aggregate(groups: readonly DiscoveredGroup[]): AggregatedDocument {
  const head = '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":['
  const bytes = Buffer.from(`${head}${groups.map(encodedGroup).join(',')}]}\n`)
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
}

function encodedGroup({ name, versions }: DiscoveredGroup): string {
  const metadata = encodeJson(name === '' ? {} : { name })
  return `{"metadata":${metadata},"versions":[${versions.map(encodedVersion).join(',')}]}`
}

function encodedVersion({ version, resources, remote }: DiscoveredVersion): string {
  const all = remote ? remote.resources.map((resource) => encodeJson(resource)) : resources.map(encodedResource)
  const list = remote?.resources.length === 0 ? '' : `"resources":[${all.join(',')}],`
  return `{"version":${encodeJson(version)},${list}"freshness":"${remote?.freshness ?? 'Current'}"}`
}

/** Encoded entries of aggregated documents. Those of built-in resources are shared by all servers of a process. */
const encodedResources = new WeakMap<DiscoveredResource, string>()

function encodedResource(resource: DiscoveredResource): string {
  const encoded = encodedResources.get(resource) ?? encodeJson(aggregatedResource(resource))
  encodedResources.set(resource, encoded)
  return encoded
}

function aggregatedResource(resource: DiscoveredResource): Record<string, unknown> {
  const { name, responseKind, scope, singular, verbs, shortNames, categories, subresources } = resource
  return {
    resource: name,
    responseKind,
    scope,
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: sub.responseKind,
            verbs: sub.verbs,
          })),
        }
      : {}),
  }
}
