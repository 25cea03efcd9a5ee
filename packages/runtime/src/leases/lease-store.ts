import { isNotFound } from '@kubewright/api'
import type { Duration } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { Lease, type LeaseDraft } from '@kubewright/k8s/coordination/v1'

/** Options of one request. */
export interface LeaseCall {
  readonly signal?: AbortSignal | undefined
  readonly timeout?: Duration | undefined
}

/**
 * The Leases of one namespace. A read is never older than the last acknowledged write. Writes are conditional on the
 * version.
 */
export interface LeaseStore {
  /** The namespace of the Leases, for messages. */
  readonly namespace: string
  find(name: string, call?: LeaseCall): Promise<Lease | undefined>
  list(labels: Readonly<Record<string, string>>, call?: LeaseCall): Promise<readonly Lease[]>
  create(draft: LeaseDraft, call?: LeaseCall): Promise<Lease>
  /** Replaces the Lease if it still has the version that was read; otherwise rejects with a Conflict. */
  update(lease: Lease, call?: LeaseCall): Promise<Lease>
  /** Deletes the Lease if it still has the version that was read. Does nothing when it does not exist. */
  delete(lease: Lease, call?: LeaseCall): Promise<void>
  /**
   * Resolves to true as soon as the Lease has no holder or was deleted, and to false when the watch ends before. Calls
   * `onRenewed` with each version in between. A store without this method is polled only.
   */
  released?(
    lease: Lease,
    call: { readonly signal: AbortSignal; readonly onRenewed: (lease: Lease) => void },
  ): Promise<boolean>
}

/**
 * The Leases of a namespace of an API server. The client must not read from a cache. With `watch`, candidates learn of a
 * released Lease from a watch, which requires the permission to watch Leases.
 */
export function apiLeaseStore(
  client: Client,
  namespace: string,
  options: { watch?: boolean | undefined } = {},
): LeaseStore {
  const released: LeaseStore['released'] = async ({ metadata }, { signal, onRenewed }) => {
    const { name, resourceVersion } = metadata
    const fields = { 'metadata.name': name }
    const watch = await client.watch(Lease, { namespace, fields, resourceVersion, signal })
    for await (const event of watch) {
      if (event.type === 'DELETED') return true
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      if (!event.object.spec?.holderIdentity) return true
      onRenewed(event.object)
    }
    return false
  }
  return {
    ...(options.watch ? { released } : {}),
    namespace,
    find: (name, call) => client.find(Lease, { name, namespace }, call),
    list: (labels, call) => client.list(Lease, { namespace, labels, ...call }),
    create: (draft, call) => client.create(Lease({ ...draft, metadata: { ...draft.metadata, namespace } }), call),
    update: (lease, call) => client.update(lease, call),
    async delete({ metadata }, call) {
      const { uid, resourceVersion } = metadata
      try {
        await client.delete(
          Lease,
          { name: metadata.name, namespace },
          { ...call, preconditions: { uid, resourceVersion } },
        )
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    },
  }
}
