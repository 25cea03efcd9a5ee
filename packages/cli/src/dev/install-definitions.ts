import type { KubeObject } from '@kubewright/api'
import { type Clock, withDeadline } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import type { Definition } from './dev-messages.ts'

/** The effect of {@link installDefinition}. */
export type InstallResult = 'installed' | 'changed' | 'unchanged'

/** Applies a CustomResourceDefinition and waits until the API server serves it. */
export async function installDefinition(
  client: ApiClient,
  definition: Definition,
  clock: Clock,
): Promise<InstallResult> {
  const { name } = definition.metadata
  const before = await client.find(CustomResourceDefinition, name)
  // The operator's runtime has built it as a CustomResourceDefinition; this process only has its JSON.
  const after = await client.apply(definition as never, { fieldManager: 'kubewright-dev', force: true })
  await withDeadline(clock, '30s', `the CRD ${name} to be served`, (signal) => served(client, name, signal))
  if (before === undefined) return 'installed'
  return before.metadata.generation === (after as KubeObject).metadata.generation ? 'unchanged' : 'changed'
}

async function served(client: ApiClient, name: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const watch = await client.watch(CustomResourceDefinition, {
      fields: { 'metadata.name': name },
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      signal,
    })
    for await (const event of watch) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue
      const conditions = event.object.status?.conditions ?? []
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
    }
    signal.throwIfAborted()
  }
}
