import { type Client, crdOf, defineResource, type Infer, s } from 'kubewright'
import { CustomResourceDefinition } from 'kubewright/k8s'

/** Requests a Deployment with a given name and size. */
export const Foo = defineResource({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  kind: 'Foo',
  // API groups of the Kubernetes project require this annotation.
  metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental-only' } },
  spec: s.object({
    deploymentName: s.string().optional(),
    replicas: s.int({ minimum: 1, maximum: 10 }).optional(),
  }),
  status: s.object({ availableReplicas: s.int() }),
})
export type Foo = Infer<typeof Foo>

/** Installs the CustomResourceDefinition. Resolves when it is established. */
export async function installFoo(client: Client, signal?: AbortSignal): Promise<void> {
  const { metadata } = await client.apply(crdOf(Foo), { force: true })
  const options = { fields: { 'metadata.name': metadata.name }, sendInitialEvents: true, signal }
  for await (const event of await client.watch(CustomResourceDefinition, options)) {
    if (event.type === 'BOOKMARK') continue
    if (event.object.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
  }
}
