import type { ApiClient, Client, SubresourceClient } from '@kubewright/client'
import type { Cluster } from '../cluster/cluster.ts'
import type { WriteGate } from './write-gate.ts'

type Access = 'read' | 'write'

// Exhaustive on purpose: a new method of the client does not compile before somebody has decided what it is.
const access: Readonly<Record<Exclude<keyof Client, 'subresource'>, Access>> = {
  get: 'read',
  find: 'read',
  list: 'read',
  pages: 'read',
  watch: 'read',
  logs: 'read',
  kind: 'read',
  resource: 'read',
  create: 'write',
  update: 'write',
  patch: 'write',
  apply: 'write',
  delete: 'write',
  deleteCollection: 'write',
  exec: 'write',
  attach: 'write',
  portForward: 'write',
}

const subresourceAccess: Readonly<Record<keyof SubresourceClient<never, never>, Access>> = {
  get: 'read',
  create: 'write',
  update: 'write',
  patch: 'write',
  apply: 'write',
}

/** A client that sends a write only while the gate is open; otherwise the write rejects with a `NotLeaderError`. Reads pass. */
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
      const isWrite = typeof name === 'string' && table[name] === 'write'
      const method = isWrite
        ? async (...args: unknown[]): Promise<unknown> => {
            gate.assertOpen()
            return value.apply(target, args)
          }
        : value.bind(target)
      methods.set(name, method)
      return method
    },
  })
}
