// A cluster under load: Deployments in several namespaces are rolled out and then deleted with everything in them.
import type { AnyKind, Infer } from '@kubewright/api'
import { type ApiClient, allNamespaces } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { Deployment, Namespace, Pod } from '@kubewright/k8s'

/** The numbers of objects. */
export interface ManyDeployments {
  readonly namespaces: number
  readonly deployments: number
  readonly replicas: number
}

const prefix = 'many-'
const makers = 16

/** Creates the Deployments. Resolves when all replicas are available. */
export async function rollOut(client: ApiClient, many: ManyDeployments, signal: AbortSignal): Promise<void> {
  const namespaces = Array.from({ length: many.namespaces }, (_, i) => `${prefix}${i}`)
  for (const name of namespaces) await client.create(Namespace({ metadata: { name } }))
  const all = namespaces.flatMap((namespace) =>
    Array.from({ length: many.deployments }, (_, i) => deployment(namespace, `web-${i}`, many.replicas)),
  )
  const total = all.length
  const available = new Set<string>()
  const rolledOut = follow(client, Deployment, signal, ({ metadata, status }, isGone) => {
    const key = `${metadata.namespace}/${metadata.name}`
    if (!isGone && status?.availableReplicas === many.replicas) available.add(key)
    else available.delete(key)
    return available.size === total
  })
  const make = async (): Promise<void> => {
    for (let draft = all.pop(); draft !== undefined; draft = all.pop()) await client.create(draft)
  }
  await Promise.all([rolledOut, ...Array.from({ length: makers }, make)])
}

/** Deletes the namespaces. Resolves when they are gone. */
export async function remove(client: ApiClient, many: ManyDeployments, signal: AbortSignal): Promise<void> {
  const left = new Set(Array.from({ length: many.namespaces }, (_, i) => `${prefix}${i}`))
  const gone = follow(client, Namespace, signal, ({ metadata }, isGone) => {
    if (isGone) left.delete(metadata.name)
    return left.size === 0
  })
  await Promise.all([gone, ...[...left].map((name) => client.delete(Namespace, name))])
}

/** Returns the keys in storage that belong to the namespaces. */
export async function remains(plane: ControlPlane): Promise<string[]> {
  const { entries } = await plane.server.parts.registry.store.list({ prefix: '/registry/' })
  return entries.map(({ key }) => key).filter((key) => key.includes(`/${prefix}`))
}

/** Returns the number of pods. */
export async function countPods(client: ApiClient): Promise<number> {
  return (await client.list(Pod, { namespace: allNamespaces })).length
}

const deployment = (namespace: string, name: string, replicas: number) =>
  Deployment({
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
      },
    },
  })

/** Watches the objects of a kind until `isEnough` returns true. A watch that ends is reopened. */
async function follow<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  signal: AbortSignal,
  isEnough: (object: Infer<K>, isGone: boolean) => boolean,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const where = kind.scope === 'Namespaced' ? { namespace: allNamespaces } : {}
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', signal } as const
    for await (const event of await client.watch(kind, { ...where, ...options })) {
      if (event.type !== 'BOOKMARK' && isEnough(event.object, event.type === 'DELETED')) return
    }
  }
}
