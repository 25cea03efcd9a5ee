import { ApiError, type StatusCause } from '@kubewright/api'
import { type Clock, withDeadline } from '@kubewright/base'
import {
  type ApiClient,
  bearerToken,
  createClient,
  inProcessTransport,
  RestClient,
  type RestRequest,
} from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { isRecord } from '../text/is-record.ts'

/** What a server said to a write. */
export type Answer =
  | { readonly ok: true; readonly object: Readonly<Record<string, unknown>>; readonly warnings: readonly string[] }
  | {
      readonly ok: false
      readonly message: string
      readonly reason: string
      readonly causes: readonly StatusCause[]
      readonly warnings: readonly string[]
    }

/** An API server in this process that nobody else sees, with nothing in it but what every cluster has. */
export interface OfflineServer extends AsyncDisposable {
  readonly client: ApiClient
  /** Sends a request. Refusals are answers, not errors. */
  send(request: RestRequest): Promise<Answer>
  /** Resolves when the server serves a definition that it has stored, or says why it will not. */
  served(name: string): Promise<string | undefined>
  /** Resolves when every definition is served as it was last written; to be called once. */
  settled(): Promise<void>
}

/** Starts a server for checks: the code that serves clusters, so that what it says is what they say. */
export async function startOfflineServer(clock: Clock): Promise<OfflineServer> {
  const store = new MemoryStore()
  // Only this process can reach it; the token keeps access control in play as everywhere.
  const token = 'offline'
  const server = await assembleServer({
    store,
    clock,
    access: { tokens: [{ token, user: { name: 'kubewright', groups: ['system:masters'] } }] },
  })
  const transport = inProcessTransport({ handler: server.handler })
  const credentials = bearerToken(token)
  const client = createClient({ transport, credentials, clock })
  return {
    client,
    send: async (request) => {
      const warnings: string[] = []
      // A client of its own for each request, since clients tell each warning once.
      const rest = new RestClient({ transport, credentials, clock, onWarning: (text) => warnings.push(text) })
      try {
        const object = await rest.json(request)
        return { ok: true, object: isRecord(object) ? object : {}, warnings }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const { message, reason, causes } = error
        return { ok: false, message, reason, causes, warnings }
      }
    },
    served: (name) => whenServed(client, clock, name),
    settled: async () => {
      // Definitions are served in the order of their names: once the last one is, all others are.
      await client.create(lastDefinition)
      await whenServed(client, clock, lastDefinition.metadata.name)
    },
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

const lastDefinition = CustomResourceDefinition({
  metadata: { name: 'zzzz.kubewright.dev' },
  spec: {
    group: 'kubewright.dev',
    scope: 'Cluster',
    names: { kind: 'Zzzz', plural: 'zzzz' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

async function whenServed(client: ApiClient, clock: Clock, name: string): Promise<string | undefined> {
  return withDeadline(clock, '30s', `the definition ${name} to be served`, async (signal) => {
    for (;;) {
      const fields = { 'metadata.name': name }
      const watch = await client.watch(CustomResourceDefinition, { fields, sendInitialEvents: true, signal })
      for await (const event of watch) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue
        const conditions = event.object.status?.conditions ?? []
        const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
        if (refused !== undefined) return `${refused.reason}: ${refused.message}`
        if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return undefined
      }
      signal.throwIfAborted()
    }
  })
}
