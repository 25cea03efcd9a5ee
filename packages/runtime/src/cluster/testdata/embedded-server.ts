import { type ApiClient, bearerToken, type ClientOptions, createClient, inProcessTransport } from '@kubewright/client'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'

/** An in-memory API server without sockets. */
export interface EmbeddedServer extends AsyncDisposable {
  api(options?: Partial<ClientOptions>): ApiClient
}

/** Starts a server with an administrator account. */
export async function startEmbeddedServer(): Promise<EmbeddedServer> {
  const store = new MemoryStore()
  const server = await assembleServer({
    store,
    access: { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] },
  })
  const transport = inProcessTransport({ handler: server.handler })
  return {
    api: (options = {}) => createClient({ transport, credentials: bearerToken('admin'), ...options }),
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
