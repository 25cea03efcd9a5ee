import type { CrdManifest } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { defaultRelease } from '@kubewright/k8s/releases'
import { isCrd } from '../input/crds-in.ts'
import { openApiCrd } from './openapi-crd.ts'

/**
 * The CRDs of a cluster, or the named ones: those that are installed, and those that are derived from the OpenAPI documents of extension
 * servers. Kinds of `kubewright/k8s` are left out. Other kinds of Kubernetes, such as other versions, are included only if named.
 */
export async function clusterCrds(
  client: ApiClient,
  signal: AbortSignal,
  names: readonly string[] = [],
): Promise<CrdManifest[]> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const list = await client.rest.json({ method: 'GET', path, signal })
  const items = isJsonObject(list) && Array.isArray(list['items']) ? list['items'] : []
  // Items of a list have neither apiVersion nor kind.
  const crds = items.map((item: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    ...item,
  }))
  const installed = crds.filter(isCrd)
  const known = new Set(installed.map(({ metadata }) => metadata.name))
  const all = [...installed, ...(await extensionCrds(client, known, names.length > 0, signal))]
  return names.length === 0 ? all : all.filter((crd) => isNamed(crd, names))
}

async function extensionCrds(
  client: ApiClient,
  known: ReadonlySet<string>,
  withKubernetes: boolean,
  signal: AbortSignal,
): Promise<CrdManifest[]> {
  const kubernetes = new Set(defaultRelease.groups.map(({ group }) => group))
  const found = new Map<string, CrdManifest>()
  for (const { name, versions } of await client.discovery.groups({ signal })) {
    // A CRD cannot be in a group without a dot.
    if (!name.includes('.') || (kubernetes.has(name) && !withKubernetes)) continue
    for (const { version, resources } of versions) {
      const wanted = resources.filter(
        ({ plural, kind }) =>
          !known.has(`${plural}.${name}`) &&
          !found.has(`${plural}.${name}`) &&
          defaultRelease.kindFor({ group: name, version, kind }) === undefined,
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

/** The kinds of `kubewright/k8s` among the names, which need no import. */
export function builtinNamed(names: readonly string[]): string[] {
  const lower = names.map((name) => name.toLowerCase())
  const found = defaultRelease.kinds.filter(({ kind, plural, singular, group, shortNames }) =>
    [kind.toLowerCase(), plural, singular, `${plural}.${group}`, ...shortNames].some((name) => lower.includes(name)),
  )
  return [...new Set(found.map(({ kind }) => kind))]
}

/** Whether one of the names is the group, kind, plural, singular, short name or full name of a CRD. */
function isNamed({ metadata, spec }: CrdManifest, names: readonly string[]): boolean {
  const { kind, plural, singular, shortNames = [] } = spec.names
  const own = [metadata.name, spec.group, kind, kind.toLowerCase(), plural, singular, ...shortNames]
  return names.some((name) => own.includes(name) || own.includes(name.toLowerCase()))
}
