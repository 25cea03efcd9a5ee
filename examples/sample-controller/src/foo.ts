import { type Client, crdOf, defineResource, type Infer, s } from 'kubewright'
import { CustomResourceDefinition } from 'kubewright/k8s'

/** Wants a Deployment of a certain name and size. */
export const Foo = defineResource({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  kind: 'Foo',
  // Groups of the Kubernetes project must say who approved them.
  metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental-only' } },
  spec: s.object({
    deploymentName: s.string().optional(),
    replicas: s.int({ minimum: 1, maximum: 10 }).optional(),
  }),
  status: s.object({ availableReplicas: s.int() }),
})
export type Foo = Infer<typeof Foo>

/** Makes the cluster know Foos; resolves when it does. */
export async function installFoo(client: Client, signal?: AbortSignal): Promise<void> {
  const { metadata } = await client.apply(crdOf(Foo), { force: true })
  const options = { fields: { 'metadata.name': metadata.name }, sendInitialEvents: true, signal }
  for await (const event of await client.watch(CustomResourceDefinition, options)) {
    if (event.type === 'BOOKMARK') continue
    if (event.object.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
  }
}
