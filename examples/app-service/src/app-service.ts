import { defineResource, type Infer, s } from 'kubewright'
import { schemaOf } from 'kubewright/k8s/schemas'

/** A program with several replicas and the ports at which it can be reached. */
export const AppService = defineResource({
  group: 'batch.example.com',
  version: 'v1alpha1',
  kind: 'AppService',
  description: 'A program with several replicas and the ports at which it can be reached.',
  spec: s.object({
    replicas: s.int({ minimum: 0 }).describe('The number of replicas.'),
    image: s.string({ minLength: 1 }).describe('The container image of the program.'),
    envs: s
      .array(s.from(schemaOf('io.k8s.api.core.v1.EnvVar')))
      .describe('The environment variables of the program.')
      .optional(),
    resources: s.from(schemaOf('io.k8s.api.core.v1.ResourceRequirements')).optional(),
    ports: s
      .array(s.from(schemaOf('io.k8s.api.core.v1.ServicePort')))
      .describe('The ports of the Service. Without ports there is no Service.')
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
