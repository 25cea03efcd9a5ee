import { createHash } from 'node:crypto'
import { encodeJson } from '@kubewright/api'
import type { ResourceTable } from '../registry/resource-table.ts'
import { type DiscoveredResource, discoveredResource } from './discovered-resource.ts'
import { compareGroups, compareVersions } from './group-priority.ts'

/** A version of a group with what it serves. */
export interface DiscoveredVersion {
  readonly version: string
  readonly resources: readonly DiscoveredResource[]
}

/** A group with its versions, the preferred one first. */
export interface DiscoveredGroup {
  readonly name: string
  readonly versions: readonly DiscoveredVersion[]
}

/** An aggregated document and the tag under which clients may keep it. */
export interface AggregatedDocument {
  /** JSON, as it is sent. */
  readonly bytes: Buffer
  readonly etag: string
}

/** What discovery says, derived from the table of resources and kept until the table changes. */
export class DiscoveryIndex implements Disposable {
  readonly #resources: ResourceTable
  readonly #listening: Disposable
  #groups: ReadonlyMap<string, DiscoveredGroup> | undefined
  #aggregated: { core?: AggregatedDocument; groups?: AggregatedDocument } = {}

  constructor(resources: ResourceTable) {
    this.#resources = resources
    this.#listening = resources.onChange(() => {
      this.#groups = undefined
      this.#aggregated = {}
    })
  }

  /** Every group by name, in the order of discovery; the core group has the empty name. */
  get groups(): ReadonlyMap<string, DiscoveredGroup> {
    return (this.#groups ??= this.#collect())
  }

  find(group: string, version: string): DiscoveredVersion | undefined {
    return this.groups.get(group)?.versions.find((found) => found.version === version)
  }

  /** Everything of the core group, or of all others, in one document (apidiscovery.k8s.io/v2). */
  aggregated(part: 'core' | 'groups'): AggregatedDocument {
    return (this.#aggregated[part] ??= aggregate(
      [...this.groups.values()].filter(({ name }) => (name === '') === (part === 'core')),
    ))
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }

  #collect(): ReadonlyMap<string, DiscoveredGroup> {
    const versions = new Map<string, DiscoveredVersion[]>()
    for (const { group, version, resources } of this.#resources.groupVersions()) {
      const found = { version, resources: [...resources.values()].map(discoveredResource) }
      const known = versions.get(group)
      if (known) known.push(found)
      else versions.set(group, [found])
    }
    return new Map(
      [...versions.keys()]
        .sort(compareGroups)
        .map((name) => [
          name,
          { name, versions: versions.get(name)!.sort((a, b) => compareVersions(name, a.version, b.version)) },
        ]),
    )
  }
}

function aggregate(groups: readonly DiscoveredGroup[]): AggregatedDocument {
  const value = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  }
  const bytes = Buffer.from(`${encodeJson(value)}\n`)
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
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
