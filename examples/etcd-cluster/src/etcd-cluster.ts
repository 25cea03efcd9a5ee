import { defineResource, type Infer, s } from 'kubewright'

/** An etcd cluster that can be resized while it is in use. */
export const EtcdCluster = defineResource({
  group: 'etcd.example.com',
  version: 'v1alpha1',
  kind: 'EtcdCluster',
  shortNames: ['etcd'],
  description: 'An etcd cluster that can be resized while it is in use.',
  spec: s.object({
    size: s
      .int({ minimum: 1, maximum: 9 })
      .describe('The number of voting members. Use an odd number: 2 members tolerate no more failures than 1.')
      .default(3),
    image: s
      .string({ minLength: 1 })
      .describe('An image with etcd 3.4 or later.')
      .default('quay.io/coreos/etcd:v3.4.23'),
    replaceAfterSeconds: s
      .int({ minimum: 15 })
      .describe(
        'The time in seconds after which a member that does not respond or catch up is replaced. It must be longer than a member takes to start.',
      )
      .default(120),
  }),
  status: s.object({
    clusterID: s
      .string()
      .describe('The cluster id of etcd. Once it is set, the operator never starts a new cluster.')
      .optional(),
    lastOrdinal: s.int().describe('The highest ordinal that a member ever had. Names are not reused.'),
    size: s.int().describe('The number of voting members.'),
    healthyMembers: s.int().describe('The number of healthy voting members.'),
    members: s
      .array(
        s.object({
          name: s.string(),
          id: s.string(),
          state: s.enum('Joining', 'Healthy', 'Unhealthy'),
          since: s.time().describe('The time of the last change of the state.'),
        }),
        { listType: 'map', keys: ['id'] },
      )
      .default([]),
    selector: s.string(),
    conditions: s.conditions('Available', 'Complete'),
  }),
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size', labelSelectorPath: '.status.selector' },
  columns: {
    Size: '.spec.size',
    Healthy: '.status.healthyMembers',
    Available: '.status.conditions[?(@.type=="Available")].status',
    Status: '.status.conditions[?(@.type=="Complete")].message',
    Age: '.metadata.creationTimestamp',
  },
})
export type EtcdCluster = Infer<typeof EtcdCluster>
