import { type AnyKind, type CrdManifest, isConditionTrue } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s'
import { definitionsOf, type Operator } from '@kubewright/runtime'
import { readCrdFiles } from './crd-files.ts'
import { watchObject } from './watch-object.ts'

/** What to install besides the kinds of an operator: kinds, and paths of manifest files. */
export type Installed = readonly (AnyKind | string)[]

/**
 * Installs the custom kinds that an operator refers to, and further ones; resolves when they are served. A kind that both
 * the operator and a file define is installed as the operator defines it.
 */
export async function installKinds(
  client: ApiClient,
  operator: Operator | undefined,
  more: Installed = [],
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { kinds = [], controllers = [], webhooks = [], conversions = [] } = operator ?? {}
  const own = more.filter((one) => typeof one !== 'string')
  const definitions = new Map<string, CrdManifest>()
  for (const crd of await readCrdFiles(more.filter((one) => typeof one === 'string'))) {
    definitions.set(crd.metadata.name, crd)
  }
  for (const crd of definitionsOf({ kinds: [...own, ...kinds], controllers, webhooks, conversions })) {
    definitions.set(crd.metadata.name, crd)
  }
  const { signal } = new AbortController()
  await Promise.all(
    [...definitions.values()].map(async (crd) => {
      const metadata = { ...crd.metadata, labels: { ...crd.metadata.labels, ...labels } }
      // The CRD is untyped here; the server validates it.
      await client.apply({ ...crd, metadata } as never, { force: true })
      const isServed = (sight: object | undefined): boolean =>
        sight !== undefined && isConditionTrue(sight as never, 'Established')
      await watchObject(client, CustomResourceDefinition, crd.metadata.name, isServed, { namespace: '', signal })
    }),
  )
}
