import { ApiError, type StatusCause } from '@kubewright/api'
import { type Clock, isJsonObject, withDeadline } from '@kubewright/base'
import { type ApiClient, RestClient, type RestRequest } from '@kubewright/client'
import { startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'

/** The response to a request. */
export type ServerResponse =
  | { readonly ok: true; readonly object: Readonly<Record<string, unknown>>; readonly warnings: readonly string[] }
  | {
      readonly ok: false
      readonly message: string
      readonly reason: string
      readonly causes: readonly StatusCause[]
      readonly warnings: readonly string[]
    }

/** A private API server in this process, with the objects of an empty cluster. */
export interface OfflineServer extends AsyncDisposable {
  readonly client: ApiClient
  /** Sends a request. Rejects only if the server fails: an API error is a response. */
  send(request: RestRequest): Promise<ServerResponse>
  /** Resolves when the server serves a stored CRD; to the reason if it refuses its names. */
  served(name: string): Promise<string | undefined>
  /** Resolves when every CRD is served as last written. Must be called at most once. */
  settled(): Promise<void>
}

/**
 * Starts the same server that serves clusters, so that its responses are the same. The caller disposes it.
 *
 * @param kubernetes the minor release to serve. @default the newest stable one
 */
export async function startOfflineServer(clock: Clock, kubernetes?: string): Promise<OfflineServer> {
  const plane = await startControlPlane({ clock, kubernetes, controllers: 'none', nodes: 0 })
  // The same access control as on a cluster.
  const user = { name: 'kubewright', groups: ['system:masters'] }
  const transport = plane.transport(user)
  const client = plane.client({ user })
  return {
    client,
    send: async (request) => {
      const warnings: string[] = []
      // A new client for each request, because a client reports each warning only once.
      const rest = new RestClient({ transport, clock, onWarning: (text) => warnings.push(text) })
      try {
        const object = await rest.json(request)
        return { ok: true, object: isJsonObject(object) ? object : {}, warnings }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const { message, reason, causes } = error
        return { ok: false, message, reason, causes, warnings }
      }
    },
    served: (name) => whenServed(client, clock, name),
    settled: async () => {
      // CRDs become served in the order of their names: once the last one is, all are.
      await client.create(lastDefinition)
      await whenServed(client, clock, lastDefinition.metadata.name)
    },
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
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
  return withDeadline(clock, '30s', `the CRD ${name} to be served`, async (signal) => {
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
