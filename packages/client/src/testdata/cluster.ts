import { type AssembledServer, assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import type { ApiClient, ClientOptions } from '../api-client.ts'
import { createClient } from '../create-client.ts'
import { bearerToken } from '../rest/credentials.ts'
import { inProcessTransport } from '../transport/in-process-transport.ts'
import type { Transport } from '../transport/transport.ts'
import { tlsTransport } from './test-server.ts'

/** A server with an in-memory store and a transport to it. */
export interface TestCluster extends AsyncDisposable {
  readonly server: AssembledServer
  readonly transport: Transport
  client(options?: Partial<ClientOptions>): ApiClient
}

export type Way = 'in-process' | 'TLS'

/** Starts a server with an administrator whose token is `admin`. */
export async function startTestCluster(way: Way): Promise<TestCluster> {
  const store = new MemoryStore()
  const server = await assembleServer({
    store,
    access: { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] },
  })
  const transport = way === 'TLS' ? await tlsTransport(server.handler) : inProcessTransport({ handler: server.handler })
  return {
    server,
    transport,
    client: (options = {}) => createClient({ transport, credentials: bearerToken('admin'), ...options }),
    [Symbol.asyncDispose]: async () => {
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
