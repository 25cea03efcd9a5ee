import { crdOf, defineResource, type Infer } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s'
import { s } from '@kubewright/schema'

/** A custom resource with a status, typical for operators. */
export const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ image: s.string(), replicas: s.int().default(1), domain: s.string().optional() }),
  status: s.object({
    readyReplicas: s.int().optional(),
    observedGeneration: s.int().optional(),
    conditions: s.conditions('Ready', 'Reachable').optional(),
  }),
})
export type Home = Infer<typeof Home>

/** Installs custom resources; resolves when the server serves them. */
export async function install(client: ApiClient, ...kinds: readonly Parameters<typeof crdOf>[0][]): Promise<void> {
  for (const kind of kinds) {
    const { metadata } = crdOf(kind)
    await client.create(crdOf(kind))
    const events = await client.watch(CustomResourceDefinition, { fields: { 'metadata.name': metadata.name } })
    for await (const event of events) {
      if (event.type !== 'BOOKMARK' && isEstablished(event.object)) break
    }
  }
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
