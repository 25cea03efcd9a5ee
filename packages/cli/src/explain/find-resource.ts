import { parseGroupVersion } from '@kubewright/api'
import { type ApiClient, NoMatchError, type ServedResource } from '@kubewright/client'

/** A resource and the path of a field in it. */
export interface NamedField {
  readonly resource: ServedResource
  readonly path: readonly string[]
}

/**
 * Splits `deployments.apps.spec.replicas` into resource and field path: the longest prefix that names a resource is the resource. It may
 * be plural, singular, kind or short name, with or without group, as for kubectl.
 */
export async function findResource(client: ApiClient, word: string, apiVersion?: string): Promise<NamedField> {
  const parts = word.split('.').filter((part) => part !== '')
  const [first = '', ...others] = parts
  if (apiVersion !== undefined) return { resource: await inVersion(client, first, apiVersion), path: others }
  for (let count = parts.length; count > 0; count--) {
    try {
      const name = [first.toLowerCase(), ...parts.slice(1, count)].join('.')
      return { resource: await client.mapper.match(name), path: parts.slice(count) }
    } catch (error) {
      if (!(error instanceof NoMatchError)) throw error
    }
  }
  throw new NoMatchError(`the server doesn't have a resource type "${first}"`)
}

async function inVersion(client: ApiClient, word: string, apiVersion: string): Promise<ServedResource> {
  const { group, version } = parseGroupVersion(apiVersion)
  const name = word.toLowerCase()
  const resources = (await client.discovery.version(group, version)) ?? []
  const found = resources.find(
    ({ plural, singular, kind, shortNames }) =>
      plural === name || singular === name || kind.toLowerCase() === name || shortNames.includes(name),
  )
  if (found === undefined) throw new NoMatchError(`couldn't find resource for "${apiVersion}, Kind=${word}"`)
  return found
}
