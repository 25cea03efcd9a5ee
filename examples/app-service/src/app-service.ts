import { defineResource, type Infer, s } from 'kubewright'
import { schemaOf } from 'kubewright/k8s/schemas'

/** A program that runs in several copies, and the ports at which it can be reached. */
export const AppService = defineResource({
  group: 'batch.example.com',
  version: 'v1alpha1',
  kind: 'AppService',
  description: 'A program that runs in several copies, and the ports at which it can be reached.',
  spec: s.object({
    replicas: s.int({ minimum: 0 }).describe('How many copies run.'),
    image: s.string({ minLength: 1 }).describe('The container image of the program.'),
    envs: s
      .array(s.from(schemaOf('io.k8s.api.core.v1.EnvVar')))
      .describe('Environment of the program.')
      .optional(),
    resources: s.from(schemaOf('io.k8s.api.core.v1.ResourceRequirements')).optional(),
    ports: s
      .array(s.from(schemaOf('io.k8s.api.core.v1.ServicePort')))
      .describe('Ports of the Service; without any there is none.')
      .optional(),
  }),
  status: s.object({
    replicas: s.int(),
    readyReplicas: s.int(),
    availableReplicas: s.int(),
    conditions: s.conditions('Available', 'Exposed'),
  }),
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  columns: {
    Replicas: '.spec.replicas',
    Available: '.status.availableReplicas',
    Image: '.spec.image',
    Age: '.metadata.creationTimestamp',
  },
})
export type AppService = Infer<typeof AppService>
