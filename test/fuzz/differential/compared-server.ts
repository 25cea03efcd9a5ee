import { AsyncDisposer } from '@kubewright/base'
import { assembleServer, createServerIdentity, listen } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import type { Target } from '../../conformance/target.ts'

/** A server in this process, without controllers, that is compared with a reference server. */
export interface ComparedServer extends AsyncDisposable {
  readonly target: Target
}

/** Starts a server with its objects in memory. */
export async function startComparedServer(): Promise<ComparedServer> {
  await using parts = new AsyncDisposer()
  const identity = createServerIdentity(Date.now())
  const admin = { token: 'test', user: { name: 'admin', groups: ['system:masters'] } }
  const store = parts.use(new MemoryStore())
  const server = parts.use(await assembleServer({ store, access: { tokens: [admin] } }))
  const { port } = parts.use(await listen({ handler: server.handler, ...identity.serving, clientCas: [] }))
  const owned = parts.move()
  return {
    target: { server: new URL(`https://127.0.0.1:${port}`), ca: identity.ca.cert, token: admin.token },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}
