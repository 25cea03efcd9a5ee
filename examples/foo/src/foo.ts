import { defineResource, type Infer, s } from 'kubewright'

/** Requests a Deployment with a given name and size. */
export const Foo = defineResource({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  kind: 'Foo',
  // API groups of the Kubernetes project require this annotation.
  metadata: { annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental-only' } },
  spec: s.object({
    deploymentName: s.string().describe('The name of the Deployment. It can be changed.'),
    replicas: s.int({ minimum: 0 }).default(1),
  }),
  status: s.object({ availableReplicas: s.int() }),
  columns: { Deployment: '.spec.deploymentName', Replicas: '.spec.replicas', Available: '.status.availableReplicas' },
})
export type Foo = Infer<typeof Foo>
