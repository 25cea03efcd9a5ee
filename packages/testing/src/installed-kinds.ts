import { type AnyKind, crdOf, isConditionTrue, resourceOf } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s'
import { isKeyController, type Operator } from '@kubewright/runtime'
import { watchObject } from './watch-object.ts'

/** The custom kinds that an operator names anywhere, each resource once. */
export function customKindsOf(operator: Operator | undefined, more: readonly AnyKind[] = []): AnyKind[] {
  const named: AnyKind[] = [...more, ...(operator?.kinds ?? [])]
  for (const controller of operator?.controllers ?? []) {
    if (isKeyController(controller)) {
      if (controller.kind) named.push(controller.kind)
    } else {
      named.push(
        controller.kind,
        ...controller.owns.map(({ kind }) => kind),
        ...controller.watches.map(({ kind }) => kind),
      )
    }
  }
  for (const webhook of operator?.webhooks ?? []) named.push(webhook.kind)
  const byResource = new Map<string, AnyKind>()
  for (const kind of named) {
    const id = `${kind.plural}.${kind.group}`
    if (resourceOf(kind) !== undefined && !byResource.has(id)) byResource.set(id, kind)
  }
  return [...byResource.values()]
}

/** Installs the definitions of custom kinds; resolves when they are served. */
export async function installKinds(
  client: ApiClient,
  kinds: readonly AnyKind[],
  change: (crd: ReturnType<typeof crdOf>) => object = (crd) => crd,
): Promise<void> {
  const signal = new AbortController().signal
  await Promise.all(
    kinds.map(async (kind) => {
      const crd = change(crdOf(kind))
      await client.apply(crd as never, { force: true })
      const { name } = crdOf(kind).metadata
      const isServed = (sight: object | undefined): boolean =>
        sight !== undefined && isConditionTrue(sight as never, 'Established')
      await watchObject(client, CustomResourceDefinition, name, isServed, { namespace: '', signal })
    }),
  )
}
