import { CaughtError } from '@kubewright/base'
import type { OutgoingResponse } from '../outgoing/outgoing.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { aggregatorUser, type ExtensionServers } from './extension-servers.ts'

/** The resources of a group version of an extension server, in the format of aggregated discovery. */
export type RemoteResources = readonly Readonly<Record<string, unknown>>[]

/** The size limit of discovery documents. */
const maxBytes = 16 * 1024 * 1024
const timeout = 5000
const aggregatedType = /^application\/json;.*g=apidiscovery\.k8s\.io;.*as=APIGroupDiscoveryList/
const accept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',')

interface GroupDiscoveryList {
  readonly items?:
    | readonly {
        readonly metadata?: { readonly name?: string | undefined } | undefined
        readonly versions?:
          | readonly { readonly version?: string | undefined; readonly resources?: RemoteResources | undefined }[]
          | undefined
      }[]
    | undefined
}

interface LegacyResource {
  readonly name: string
  readonly singularName?: string | undefined
  readonly namespaced?: boolean | undefined
  readonly group?: string | undefined
  readonly version?: string | undefined
  readonly kind: string
  readonly verbs?: readonly string[] | undefined
  readonly shortNames?: readonly string[] | undefined
  readonly categories?: readonly string[] | undefined
}

/**
 * Reads the resources of the group version of an APIService from the aggregated discovery document, or from the legacy one if the
 * server has no aggregated discovery.
 */
export async function fetchDiscovery(service: RemoteApiService, servers: ExtensionServers): Promise<RemoteResources> {
  const { group, version } = service.spec
  const all = await ask(service, servers, '/apis', accept)
  const contentType = all.headers['content-type']?.[0] ?? ''
  if (all.status === 503) throw new CaughtError(`The extension server for ${version}.${group} is not available`)
  if (all.status === 200 && aggregatedType.test(contentType)) {
    const { items = [] } = JSON.parse(all.text) as GroupDiscoveryList
    const found = items.find(({ metadata }) => metadata?.name === group)
    return found?.versions?.find((candidate) => candidate.version === version)?.resources?.map(completed) ?? []
  }
  const path = `/apis/${group}/${version}`
  const own = await ask(service, servers, path, 'application/json')
  if (own.status !== 200) throw new CaughtError(`failed to download legacy discovery for ${path}: ${own.status}`)
  const { resources = [] } = JSON.parse(own.text) as { resources?: readonly LegacyResource[] | undefined }
  return fromLegacy(resources, group, version)
}

/** The path of the OpenAPI document of the group version, or undefined when the server has none. */
export async function fetchOpenApiUrl(
  service: RemoteApiService,
  servers: ExtensionServers,
): Promise<string | undefined> {
  const { group, version } = service.spec
  const index = await ask(service, servers, '/openapi/v3', 'application/json')
  if (index.status !== 200) return undefined
  const { paths = {} } = JSON.parse(index.text) as {
    paths?: Record<string, { serverRelativeURL?: string | undefined }> | undefined
  }
  const path = `apis/${group}/${version}`
  const url = Object.hasOwn(paths, path) ? paths[path]?.serverRelativeURL : undefined
  // Rejects paths of other group versions: they may belong to another server.
  return url?.startsWith(`/openapi/v3/${path}`) ? url : undefined
}

async function ask(
  service: RemoteApiService,
  servers: ExtensionServers,
  target: string,
  accepted: string,
): Promise<OutgoingResponse & { readonly text: string }> {
  const stopping = new AbortController()
  const late = (): void => stopping.abort(new Error('request timed out'))
  const timer = servers.clock.setTimer(timeout, late, 'discovery of an extension server')
  try {
    const { signal } = stopping
    const headers = { accept: accepted }
    const response = await servers.send(service, { method: 'GET', target, user: aggregatorUser, headers, signal })
    return { ...response, text: await readText(response) }
  } finally {
    timer.cancel()
  }
}

/** Reads a response body as text. Rejects when it exceeds the size limit of discovery documents. */
export async function readText({ body }: Pick<OutgoingResponse, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new CaughtError(`Response of an extension server exceeds the limit of ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Clients require a kind, so an unknown kind has empty fields. */
function completed(resource: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const responseKind = resource['responseKind'] ?? { group: '', version: '', kind: '' }
  const subresources = resource['subresources'] as RemoteResources | undefined
  return { ...resource, responseKind, ...(subresources ? { subresources: subresources.map(completed) } : {}) }
}

function fromLegacy(listed: readonly LegacyResource[], group: string, version: string): RemoteResources {
  const kindOf = (resource: LegacyResource): object => ({
    group: resource.group ?? group,
    version: resource.version ?? version,
    kind: resource.kind,
  })
  return listed
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => {
      const { name, singularName = '', namespaced = false, verbs = [], shortNames = [], categories = [] } = resource
      const subresources = listed
        .filter((candidate) => candidate.name.startsWith(`${name}/`))
        .map((candidate) => ({
          subresource: candidate.name.slice(name.length + 1),
          responseKind: kindOf(candidate),
          verbs: candidate.verbs ?? [],
        }))
      return {
        resource: name,
        responseKind: kindOf(resource),
        scope: namespaced ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        verbs,
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
        ...(subresources.length > 0 ? { subresources } : {}),
      }
    })
}
