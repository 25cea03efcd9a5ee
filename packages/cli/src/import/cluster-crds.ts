import type { CrdManifest } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { discoveryGroups } from '@kubewright/k8s/discovery'
import { isRecord } from '../scaffold/is-record.ts'
import { isCrd } from '../validate/crds-in.ts'
import { openApiCrd } from './openapi-crd.ts'

/**
 * The definitions of a cluster: those that are installed, and what the OpenAPI documents of extension servers tell of theirs. What
 * every cluster has built in is left out, since `kubewright/k8s` has it.
 */
export async function clusterCrds(client: ApiClient, signal: AbortSignal): Promise<CrdManifest[]> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const list = await client.rest.json({ method: 'GET', path, signal })
  const items = isRecord(list) && Array.isArray(list['items']) ? list['items'] : []
  // Items of a list do not say what they are.
  const crds = items.map((item: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    ...item,
  }))
  const installed = crds.filter(isCrd)
  return [
    ...installed,
    ...(await extensionCrds(client, new Set(installed.map(({ metadata }) => metadata.name)), signal)),
  ]
}

async function extensionCrds(
  client: ApiClient,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<CrdManifest[]> {
  const builtin = new Set(discoveryGroups().map(({ group }) => group))
  const found = new Map<string, CrdManifest>()
  for (const { name, versions } of await client.discovery.groups({ signal })) {
    if (builtin.has(name)) continue
    for (const { version, resources } of versions) {
      const wanted = resources.filter(
        ({ plural }) => !known.has(`${plural}.${name}`) && !found.has(`${plural}.${name}`),
      )
      if (wanted.length === 0) continue
      const document = await client.rest.json({ method: 'GET', path: `/openapi/v3/apis/${name}/${version}`, signal })
      for (const resource of wanted) {
        const crd = openApiCrd(resource, document)
        if (crd !== undefined) found.set(crd.metadata.name, crd)
      }
    }
  }
  return [...found.values()]
}

/** Whether a definition is one of those that somebody named by group, kind, plural or full name. */
export function isNamed({ metadata, spec }: CrdManifest, names: readonly string[]): boolean {
  const { kind, plural, singular, shortNames = [] } = spec.names
  const own = [metadata.name, spec.group, kind, kind.toLowerCase(), plural, singular, ...shortNames]
  return names.some((name) => own.includes(name) || own.includes(name.toLowerCase()))
}
