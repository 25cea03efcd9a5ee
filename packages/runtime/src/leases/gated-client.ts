import { isKind } from '@kubewright/api'
import type { ApiClient, CallOptions, Client, SubresourceClient } from '@kubewright/client'
import type { Cluster } from '../cluster/cluster.ts'
import type { WriteGate } from './write-gate.ts'

// Whether a method only reads; of one that writes, which argument holds its options.
type Access = 'read' | ((args: readonly unknown[]) => number)

const optionsAt =
  (index: number): Access =>
  () =>
    index

// Exhaustive on purpose: a new method of the clients does not compile before somebody has decided what it is.
type Methods<T> = { [N in keyof T & string as T[N] extends (...args: never) => unknown ? N : never]: Access }

const access: Readonly<Omit<Methods<ApiClient>, 'subresource'>> = {
  get: 'read',
  find: 'read',
  list: 'read',
  pages: 'read',
  encodedPage: 'read',
  watch: 'read',
  logs: 'read',
  kind: 'read',
  resource: 'read',
  create: optionsAt(1),
  update: optionsAt(1),
  patch: optionsAt(3),
  apply: ([first]) => (isKind(first) ? 2 : 1),
  delete: optionsAt(2),
  requestDeletion: optionsAt(2),
  deleteCollection: optionsAt(1),
  requestCollectionDeletion: optionsAt(1),
  exec: optionsAt(1),
  attach: optionsAt(1),
  portForward: optionsAt(2),
}

const subresourceAccess: Readonly<Methods<SubresourceClient<never, never>>> = {
  get: 'read',
  create: optionsAt(2),
  update: optionsAt(1),
  patch: optionsAt(2),
  apply: optionsAt(2),
}

/**
 * A client that sends a write only while the gate is open; otherwise the write rejects with a `NotLeaderError`. The gate is asked
 * again before each attempt, as a write may wait long for its credentials, or for the time that a busy server asked for. Reads pass.
 */
export function gatedClient<C extends Client>(client: C, gate: WriteGate): C {
  const subresource = (...args: Parameters<Client['subresource']>) =>
    guarded(client.subresource(...args), gate, subresourceAccess)
  return guarded(client, gate, access, { subresource })
}

/** A cluster whose clients only write while the gate is open. The raw `rest` part of the client is not guarded. */
export function gatedCluster(cluster: Cluster, gate: WriteGate): Cluster {
  const api: ApiClient = gatedClient(cluster.api, gate)
  const client = gatedClient(cluster.client, gate)
  return {
    name: cluster.name,
    api,
    client,
    cache: cluster.cache,
    namespaces: cluster.namespaces,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

// A proxy, so that whatever else an implementation offers stays reachable; methods are bound, because it may have private fields.
function guarded<T extends object>(
  target: T,
  gate: WriteGate,
  table: Readonly<Record<string, Access>>,
  replaced: Readonly<Record<string, unknown>> = {},
): T {
  const methods = new Map<string | symbol, unknown>(Object.entries(replaced))
  return new Proxy(target, {
    get(_, name) {
      const known = methods.get(name)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const write = typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined
      const method =
        typeof write === 'function'
          ? async (...args: unknown[]): Promise<unknown> => {
              gate.assertOpen()
              const at = write(args)
              args[at] = guardedCall(args[at] as CallOptions | undefined, gate)
              return value.apply(target, args)
            }
          : value.bind(target)
      methods.set(name, method)
      return method
    },
  })
}

function guardedCall(options: CallOptions | undefined, gate: WriteGate): CallOptions {
  const beforeSend = (): void => {
    options?.beforeSend?.()
    gate.assertOpen()
  }
  return { ...options, beforeSend }
}
