import { defineResource, type Infer, s } from 'kubewright'

/** An etcd cluster that can be grown and shrunk while it is in use. */
export const EtcdCluster = defineResource({
  group: 'etcd.example.com',
  version: 'v1alpha1',
  kind: 'EtcdCluster',
  shortNames: ['etcd'],
  description: 'An etcd cluster that can be grown and shrunk while it is in use.',
  spec: s.object({
    size: s
      .int({ minimum: 1, maximum: 9 })
      .describe('How many voting members there are. Odd numbers are best: 2 members survive no more failures than 1.')
      .default(3),
    image: s
      .string({ minLength: 1 })
      .describe('Has the program etcd, version 3.4 or later.')
      .default('quay.io/coreos/etcd:v3.4.23'),
    replaceAfterSeconds: s
      .int({ minimum: 1 })
      .describe('How long a member may fail to answer, or to catch up, before another takes its place.')
      .default(120),
  }),
  status: s.object({
    clusterID: s
      .string()
      .describe('The identity that etcd gave the cluster. Once known, no other is ever begun.')
      .optional(),
    lastOrdinal: s.int().describe('The highest number that a member ever had: names are not used twice.'),
    size: s.int().describe('How many members vote.'),
    healthyMembers: s.int().describe('How many of them answer.'),
    members: s
      .array(
        s.object({
          name: s.string(),
          id: s.string(),
          state: s.enum('Joining', 'Healthy', 'Unhealthy'),
          since: s.time().describe('When the state began.'),
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
