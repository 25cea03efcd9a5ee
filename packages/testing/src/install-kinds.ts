import { type AnyKind, isConditionTrue } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s'
import { definitionsOf, type Operator } from '@kubewright/runtime'
import { watchObject } from './watch-object.ts'

/** Installs the custom kinds that an operator refers to, and further ones; resolves when they are served. */
export async function installKinds(
  client: ApiClient,
  operator: Operator | undefined,
  more: readonly AnyKind[] = [],
): Promise<void> {
  const { kinds = [], controllers = [], webhooks = [], conversions = [] } = operator ?? {}
  const definitions = definitionsOf({ kinds: [...more, ...kinds], controllers, webhooks, conversions })
  const { signal } = new AbortController()
  await Promise.all(
    definitions.map(async (crd) => {
      // The CRD is untyped here; the server validates it.
      await client.apply(crd as never, { force: true })
      const isServed = (sight: object | undefined): boolean =>
        sight !== undefined && isConditionTrue(sight as never, 'Established')
      await watchObject(client, CustomResourceDefinition, crd.metadata.name, isServed, { namespace: '', signal })
    }),
  )
}
