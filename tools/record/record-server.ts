import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ApiClient } from '../../packages/client/src/index.ts'
import type { DiscoveredGroup } from '../generate-k8s/api-facts.ts'

/** Stores the documents and objects of a server in a folder, and returns its version. */
export async function recordServer(client: ApiClient, folder: string): Promise<string> {
  const save = (file: string, content: string | Uint8Array): void => {
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  const record = async (path: string, file: string, accept?: string): Promise<unknown> => {
    const value = await client.rest.json({ method: 'GET', path, accept })
    save(file, `${JSON.stringify(value, null, 1)}\n`)
    return value
  }
  const { gitVersion } = (await record('/version', 'version.json')) as { gitVersion: string }
  await record('/openapi/v2', 'openapi-v2.json')
  const index = await client.rest.json({ method: 'GET', path: '/openapi/v3' })
  for (const name of Object.keys((index as { paths: object }).paths)) {
    await record(`/openapi/v3/${name}`, `openapi-v3/${name.replaceAll('/', '_')}.json`)
  }
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  for (const root of ['api', 'apis']) {
    const { items } = (await record(`/${root}`, `aggregated-${root}.json`, aggregated)) as { items: DiscoveredGroup[] }
    for (const { path, file } of items.flatMap(listsOf)) await record(path, `objects/${file}.json`)
  }
  save('metrics.txt', await client.rest.bytes({ method: 'GET', path: '/metrics' }))
  return gitVersion
}

/** The lists of a group, and the names of their files. */
function listsOf({ metadata, versions }: DiscoveredGroup): { readonly path: string; readonly file: string }[] {
  const group = metadata.name ?? ''
  return versions.flatMap(({ version, resources }) =>
    resources
      .filter(({ verbs }) => verbs.includes('list'))
      .map(({ resource }) => ({
        path: group === '' ? `/api/${version}/${resource}` : `/apis/${group}/${version}/${resource}`,
        file: `${group === '' ? 'core' : group}.${version}.${resource}`,
      })),
  )
}
