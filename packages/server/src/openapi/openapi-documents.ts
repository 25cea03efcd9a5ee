import { createHash } from 'node:crypto'
import { encodeJson } from '@kubewright/api'
import { append } from '@kubewright/base'
import { type Release, type ReleaseRule, releaseRule } from '@kubewright/k8s/releases'
import { discoveredResource } from '../discovery/discovered-resource.ts'
import type { DiscoveryIndex, RemoteVersion } from '../discovery/discovery-index.ts'
import { builtinOrigin, customOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import type { ResourceTable } from '../resource/resource-table.ts'
import type { ApiPath } from './api-operation.ts'
import { customDefinitions, type OpenApiVersion, type PublishedSchema } from './custom-definitions.ts'
import { discoveryPath, otherPaths } from './fixed-paths.ts'
import { openApiV2 } from './openapi-v2.ts'
import { encodeOpenApiV2 } from './openapi-v2-protobuf.ts'
import { openApiV3 } from './openapi-v3.ts'
import { resourcePaths } from './resource-operations.ts'

/** An encoded document and the hash of its content. */
export interface OpenApiDocument {
  readonly bytes: Buffer
  readonly etag: string
}

/** Options of {@link OpenApiDocuments}. */
export interface OpenApiDocumentsOptions {
  readonly resources: ResourceTable
  readonly discovery: DiscoveryIndex
  readonly release: Release
}

/**
 * The OpenAPI documents of a server. Each is created on first use and cached as bytes. A change of the resource table invalidates
 * only the documents of changed group versions.
 */
export class OpenApiDocuments implements Disposable {
  readonly #resources: ResourceTable
  readonly #discovery: DiscoveryIndex
  readonly #release: Release
  readonly #listening: Disposable
  /** By name, with the resources that each was created from. */
  readonly #v3 = new Map<string, { readonly from: readonly Resource[]; readonly document: OpenApiDocument }>()
  #index: { readonly remote: readonly RemoteVersion[]; readonly document: OpenApiDocument } | undefined
  #v2: OpenApiDocument | undefined
  #v2Protobuf: OpenApiDocument | undefined

  constructor(options: OpenApiDocumentsOptions) {
    this.#resources = options.resources
    this.#discovery = options.discovery
    this.#release = options.release
    this.#listening = options.resources.onChange(() => {
      this.#index = undefined
      this.#v2 = undefined
      this.#v2Protobuf = undefined
    })
  }

  /** The index of /openapi/v3: the path of each document with its hash. */
  get index(): OpenApiDocument {
    const { remote } = this.#discovery
    // The discovery index returns a new array after every change of extension servers.
    if (this.#index?.remote !== remote) this.#index = { remote, document: documentOf({ paths: this.#paths(remote) }) }
    return this.#index.document
  }

  #paths(remote: readonly RemoteVersion[]): Record<string, { serverRelativeURL: string }> {
    const urls = new Map(this.names().map((name) => [name, this.urlOf(name, this.v3(name)!.etag)]))
    for (const { group, version, openApi } of remote) {
      const name = `apis/${group}/${version}`
      // The document of an extension server replaces the local one.
      if (openApi === undefined) urls.delete(name)
      else urls.set(name, openApi)
    }
    const sorted = [...urls].sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(sorted.map(([name, serverRelativeURL]) => [name, { serverRelativeURL }]))
  }

  /** The names of all version 3 documents, sorted. */
  names(): string[] {
    const names = [...Object.keys(otherPaths), 'api', 'apis']
    for (const { name, versions } of this.#discovery.local.values()) {
      const root = name === '' ? 'api' : `apis/${name}`
      // Groups of custom resources have documents for their versions only.
      if (this.#isBuiltin(name)) names.push(root)
      for (const { version } of versions) names.push(`${root}/${version}`)
    }
    return [...new Set(names)].sort()
  }

  /** The path of a document. Clients may cache it forever, because the hash changes with the content. */
  urlOf(name: string, etag: string): string {
    return `/openapi/v3/${name}?hash=${etag}`
  }

  /** A version 3 document, such as `apis/apps/v1`. */
  v3(name: string): OpenApiDocument | undefined {
    const [kind, group = '', version = ''] = name.startsWith('api/') ? ['api', '', name.slice(4)] : name.split('/')
    if (Object.hasOwn(otherPaths, name)) return this.#fixed(name, () => otherPaths[name]!)
    if (kind !== 'api' && kind !== 'apis') return undefined
    if (version === '') {
      if (group !== '' && !this.#isBuiltin(group)) return undefined
      return this.#fixed(name, () => discoveryPath(`/${name}/`, group, ''))
    }
    const resources = this.#resourcesOf(group, version)
    if (!resources || name.split('/').length !== (kind === 'api' ? 2 : 3)) {
      this.#v3.delete(name)
      return undefined
    }
    // Resources are replaced, never modified, so equal references mean an unchanged document.
    const known = this.#v3.get(name)
    if (known && sameList(known.from, resources)) return known.document
    const paths = resources.flatMap(pathsOf)
    // Documents of custom groups contain no discovery paths, no release and no security definitions.
    const builtin = this.#isBuiltin(group)
    if (builtin) paths.push(discoveryPath(`/${name}/`, group, version))
    const document = documentOf(
      openApiV3(this.#release, paths, customsOf(resources, 'v3'), builtin ? { group, version } : undefined),
    )
    this.#v3.set(name, { from: resources, document })
    return document
  }

  /** The version 2 document as JSON. */
  get v2(): OpenApiDocument {
    return (this.#v2 ??= documentOf(this.#swagger()))
  }

  /** The version 2 document as protobuf, which kubectl requests. Its hash is that of the JSON. */
  get v2Protobuf(): OpenApiDocument {
    return (this.#v2Protobuf ??= { bytes: encodeOpenApiV2(this.#swagger()), etag: this.v2.etag })
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }

  #swagger(): Record<string, unknown> {
    const resources = this.#resources.all()
    const paths = [...Object.values(otherPaths), discoveryPath('/api/', '', ''), discoveryPath('/apis/', '', '')]
    for (const { name, versions } of this.#discovery.local.values()) {
      if (!this.#isBuiltin(name)) continue
      const root = name === '' ? '/api/' : `/apis/${name}/`
      if (name !== '') paths.push(discoveryPath(root, name, ''))
      for (const { version } of versions) paths.push(discoveryPath(`${root}${version}/`, name, version))
    }
    append(paths, resources.flatMap(pathsOf))
    return openApiV2(this.#release, paths, customsOf(resources, 'v2'))
  }

  #fixed(name: string, path: () => ApiPath): OpenApiDocument {
    let known = this.#v3.get(name)
    if (!known) {
      known = {
        from: [],
        document: documentOf(openApiV3(this.#release, [path()], new Map(), { group: '', version: 'v1' })),
      }
      this.#v3.set(name, known)
    }
    return known.document
  }

  #resourcesOf(group: string, version: string): Resource[] | undefined {
    const found = this.#resources.groupVersions().find((gv) => gv.group === group && gv.version === version)
    return found && [...found.resources.values()]
  }

  #isBuiltin(group: string): boolean {
    const found = this.#resources.groupVersions().find((gv) => gv.group === group)
    return found !== undefined && [...found.resources.values()].some(({ origin }) => origin === builtinOrigin)
  }
}

function pathsOf(resource: Resource): ApiPath[] {
  const paths = resourcePaths(resource, discoveredResource(resource))
  return resource.release.facts.has(documentsShards) ? paths : paths.map(withoutShards)
}

function customsOf(resources: readonly Resource[], version: OpenApiVersion): Map<string, PublishedSchema> {
  const found = new Map<string, PublishedSchema>()
  for (const resource of resources) {
    if (resource.origin !== customOrigin) continue
    for (const [name, schema] of customDefinitions(resource, version)) found.set(name, schema)
  }
  return found
}

function documentOf(value: unknown): OpenApiDocument {
  const bytes = Buffer.from(encodeJson(value))
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() }
}

function sameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}

/** As in apimachinery/pkg/apis/meta/v1: the parameter is documented although its feature gate is off. */
export const documentsShards: ReleaseRule = releaseRule({
  since: '1.36',
  summary: 'OpenAPI documents list the query parameter shardSelector of lists and watches',
})

function withoutShards(path: ApiPath): ApiPath {
  const rest = (names: readonly string[]): readonly string[] => names.filter((name) => name !== 'shardSelector')
  return {
    ...path,
    parameters: rest(path.parameters),
    operations: path.operations.map((operation) => ({ ...operation, parameters: rest(operation.parameters) })),
  }
}
