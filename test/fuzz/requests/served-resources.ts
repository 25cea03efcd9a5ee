import { isJsonObject } from '@kubewright/base'
import type { Requests } from '../../up/requests.ts'

/** A resource of discovery. */
export interface FuzzedResource {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly subresources: readonly string[]
}

/** All resources that the server lists in its discovery documents. */
export async function servedResources(admin: Requests): Promise<FuzzedResource[]> {
  const found: FuzzedResource[] = []
  for (const root of ['/api', '/apis']) {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { body } = await admin.send('GET', root, undefined, { accept })
    for (const group of listOf(body, 'items')) {
      const name = isJsonObject(group['metadata']) ? String(group['metadata']['name'] ?? '') : ''
      for (const version of listOf(group, 'versions')) {
        for (const resource of listOf(version, 'resources')) {
          found.push({
            group: name,
            version: String(version['version']),
            resource: String(resource['resource']),
            kind: isJsonObject(resource['responseKind']) ? String(resource['responseKind']['kind']) : '',
            namespaced: resource['scope'] === 'Namespaced',
            subresources: listOf(resource, 'subresources').map((sub) => String(sub['subresource'])),
          })
        }
      }
    }
  }
  return found
}

function listOf(value: unknown, name: string): Record<string, unknown>[] {
  const list = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
