import { isNotFound, type Scope } from '@kubewright/api'
import { textOf, textsOf } from '@kubewright/base'
import type { CallOptions } from '../call-options.ts'
import type { RestClient, RestRequest } from '../rest/rest-client.ts'
import { KnownDocuments } from './known-documents.ts'

/** One version of a resource that a server serves. */
export interface ServedResource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly scope: Scope
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Subresource names such as `status` and `scale`. */
  readonly subresources: readonly string[]
}

/** A version of a group. */
export interface ServedVersion {
  readonly version: string
  readonly resources: readonly ServedResource[]
  /** True when the server that serves the version could not be reached, so that resources may be missing. */
  readonly stale: boolean
}

/** A group with its versions, the preferred version first. */
export interface ServedGroup {
  readonly name: string
  readonly versions: readonly ServedVersion[]
}

const aggregated = ['v2', 'v2beta1'].map(
  (v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`,
)
const accept = [...aggregated, 'application/json'].join(',')
/** The timeout of client-go. */
const timeout = '32s'

type Json = { readonly [key: string]: unknown }

interface Document {
  readonly document: Json
  /** The groups of an aggregated document. */
  readonly groups: readonly ServedGroup[] | undefined
}

const documents = /* @__PURE__ */ new KnownDocuments<Document>()

function documentOf(document: Json): Document {
  if (document['kind'] !== 'APIGroupDiscoveryList') return { document, groups: undefined }
  // Only the groups are needed.
  return { document: {}, groups: itemsOf(document, 'items').map(fromAggregated) }
}

/**
 * Discovers the resources of a server: with two requests where it supports aggregated discovery, else with one per
 * version.
 */
export class Discovery {
  readonly #rest: RestClient

  constructor(rest: RestClient) {
    this.#rest = rest
  }

  /** All groups, the core group first. */
  async groups(options: CallOptions = {}): Promise<ServedGroup[]> {
    const [core, named] = await Promise.all([this.#groupsAt('/api', options), this.#groupsAt('/apis', options)])
    return [...core, ...named]
  }

  /** The resources of one version; undefined when the server has no such version. */
  async version(group: string, version: string, options: CallOptions = {}): Promise<ServedResource[] | undefined> {
    const list = await this.#get(group === '' ? `/api/${version}` : `/apis/${group}/${version}`, options)
    return list && fromResourceList(group, version, list.document)
  }

  async #groupsAt(path: string, options: CallOptions): Promise<readonly ServedGroup[]> {
    const found = await this.#get(path, options, accept)
    if (found === undefined) return []
    const { document, groups } = found
    if (groups !== undefined) return groups
    const names = path === '/api' ? coreVersions(document) : groupVersions(document)
    return Promise.all(
      names.map(async ({ name, versions }) => ({
        name,
        versions: await Promise.all(versions.map((version) => this.#versionOrStale(name, version, options))),
      })),
    )
  }

  /** Marks a version as stale instead of failing, so that an unavailable extension server does not hide everything else. */
  async #versionOrStale(group: string, version: string, options: CallOptions): Promise<ServedVersion> {
    try {
      return { version, resources: (await this.version(group, version, options)) ?? [], stale: false }
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!(error instanceof Error && 'statusCode' in error)) throw error
      return { version, resources: [], stale: true }
    }
  }

  async #get(path: string, { signal, ...rest }: CallOptions, accepted?: string): Promise<Document | undefined> {
    const request: RestRequest = { method: 'GET', path, accept: accepted, signal, timeout: rest.timeout ?? timeout }
    try {
      return await this.#rest.read(request, (bytes, json) => documents.value(bytes, () => documentOf(json() as Json)))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
}

function fromAggregated(item: Json): ServedGroup {
  const name = textOf((item['metadata'] as Json | undefined)?.['name'])
  return {
    name,
    versions: itemsOf(item, 'versions').map((served) => {
      const version = textOf(served['version'])
      return {
        version,
        stale: served['freshness'] === 'Stale',
        resources: itemsOf(served, 'resources').flatMap((resource) => {
          const kind = textOf((resource['responseKind'] as Json | undefined)?.['kind'])
          // Without a kind, the entry has only subresources.
          if (kind === '') return []
          return {
            group: name,
            version,
            kind,
            plural: textOf(resource['resource']),
            singular: textOf(resource['singularResource']) || kind.toLowerCase(),
            scope: resource['scope'] === 'Cluster' ? ('Cluster' as const) : ('Namespaced' as const),
            verbs: textsOf(resource['verbs']),
            shortNames: textsOf(resource['shortNames']),
            categories: textsOf(resource['categories']),
            subresources: itemsOf(resource, 'subresources').map((sub) => textOf(sub['subresource'])),
          }
        }),
      }
    }),
  }
}

function fromResourceList(group: string, version: string, list: Json): ServedResource[] {
  const entries = itemsOf(list, 'resources').map((entry) => ({ entry, path: textOf(entry['name']).split('/') }))
  return entries
    .filter(({ path }) => path.length === 1)
    .map(({ entry, path: [plural = ''] }) => ({
      group,
      version,
      kind: textOf(entry['kind']),
      plural,
      singular: textOf(entry['singularName']) || textOf(entry['kind']).toLowerCase(),
      scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
      verbs: textsOf(entry['verbs']),
      shortNames: textsOf(entry['shortNames']),
      categories: textsOf(entry['categories']),
      subresources: entries.flatMap(({ path }) => (path.length === 2 && path[0] === plural ? [path[1] ?? ''] : [])),
    }))
}

function coreVersions(document: Json): { name: string; versions: string[] }[] {
  const versions = textsOf(document['versions'])
  return versions.length === 0 ? [] : [{ name: '', versions }]
}

function groupVersions(document: Json): { name: string; versions: string[] }[] {
  return itemsOf(document, 'groups').map((group) => {
    const preferred = textOf((group['preferredVersion'] as Json | undefined)?.['version'])
    const versions = itemsOf(group, 'versions').map(({ version }) => textOf(version))
    const first = versions.filter((version) => version === preferred)
    return { name: textOf(group['name']), versions: [...first, ...versions.filter((version) => version !== preferred)] }
  })
}

function itemsOf(value: Json, key: string): Json[] {
  const items = value[key]
  return Array.isArray(items) ? items.filter((item): item is Json => typeof item === 'object' && item !== null) : []
}
