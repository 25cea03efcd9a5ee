import type { AnyKind, Infer } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'

const deadline = 20_000

/** Resolves with the object when `test` accepts it; undefined means that it does not exist. Fails after a timeout. */
export async function waitFor<K extends AnyKind>(
  api: ApiClient,
  kind: K,
  key: { readonly name: string; readonly namespace?: string },
  test: (object: Infer<K> | undefined) => boolean,
): Promise<Infer<K> | undefined> {
  const signal = AbortSignal.timeout(deadline)
  const where = key.namespace === undefined ? {} : { namespace: key.namespace }
  const watch = await api.watch(kind, {
    ...where,
    fields: { 'metadata.name': key.name },
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    signal,
  })
  let there: Infer<K> | undefined
  for await (const event of watch) {
    if (event.type !== 'BOOKMARK') there = event.type === 'DELETED' ? undefined : event.object
    if (test(there)) return there
  }
  throw new Error(`${kind.kind} ${key.name}: the watch ended`)
}
