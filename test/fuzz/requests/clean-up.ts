import type { Requests } from '../../up/requests.ts'
import { servedResources } from './served-resources.ts'
import { customGroup } from './world.ts'

/** Cluster-scoped resources that the server itself fills. */
const kept: ReadonlySet<string> = new Set([
  ...['namespaces', 'apiservices', 'clusterroles', 'clusterrolebindings', 'flowschemas', 'prioritylevelconfigurations'],
  ...['priorityclasses', 'servicecidrs', 'componentstatuses'],
])
const namespaces: readonly string[] = ['low', 'other', 'default']

/** Deletes the objects that requests created, so that the state of the server does not grow with their number. */
export async function cleanUp(admin: Requests): Promise<void> {
  for (const { group, version, resource, namespaced } of await servedResources(admin)) {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    if (resource.endsWith('reviews') || resource === 'bindings' || (!namespaced && kept.has(resource))) continue
    for (const path of namespaced
      ? namespaces.map((name) => `${root}/namespaces/${name}/${resource}`)
      : [`${root}/${resource}`]) {
      const { body } = await admin.send('GET', path, undefined, {
        accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      })
      for (const item of (body?.items ?? []) as Item[]) await remove(admin, path, item)
    }
  }
  const { body } = await admin.send('GET', '/api/v1/namespaces')
  for (const item of (body?.items ?? []) as Item[]) {
    const { name } = item.metadata
    if (namespaces.includes(name) || name.startsWith('kube-')) continue
    await admin.send('DELETE', `/api/v1/namespaces/${name}`)
    await admin.send('PUT', `/api/v1/namespaces/${name}/finalize`, { ...item, spec: { finalizers: [] } })
  }
}

interface Item {
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] }
}

async function remove(admin: Requests, path: string, { metadata }: Item): Promise<void> {
  const { name, finalizers = [] } = metadata
  if (name === `widgets.${customGroup}` || name === 'kubernetes') return
  const object = `${path}/${encodeURIComponent(name)}`
  const merge = { 'content-type': 'application/merge-patch+json' }
  await admin.send('DELETE', `${object}?gracePeriodSeconds=0`)
  if (finalizers.length > 0) await admin.send('PATCH', object, { metadata: { finalizers: null } }, merge)
}
