import { isKind } from '@kubewright/api'
import type { ApiClient, CallOptions, Client, SubresourceClient } from '@kubewright/client'
import type { Cluster } from '../cluster/cluster.ts'
import type { WriteGate } from './write-gate.ts'

// `read` for methods that do not write; for writes, the function returns the index of the options argument.
type Access = 'read' | ((args: readonly unknown[]) => number)

const optionsAt =
  (index: number): Access =>
  () =>
    index

// Exhaustive on purpose: a new client method does not compile until it is classified here.
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
 * Wraps a client so that it sends writes only while the gate is open; otherwise a write rejects with a
 * `NotLeaderError`. The gate is checked again before each attempt, because a write may wait a long time for credentials
 * or for an overloaded server. Reads pass.
 */
export function gatedClient<C extends Client>(client: C, gate: WriteGate): C {
  const subresource = (...args: Parameters<Client['subresource']>) =>
    guarded(client.subresource(...args), gate, subresourceAccess)
  return guarded(client, gate, access, { subresource })
}

/** Wraps the clients of a cluster with a gate. The raw `rest` part of the client is not guarded. */
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

// A proxy keeps other members of the implementation reachable. Methods are bound to the target because it may have
// private fields.
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
