import { defineResource, type Infer, s } from 'kubewright'

/** A database with a primary, which accepts writes, and replicas, one of which takes over when the primary fails. */
export const SqlDatabase = defineResource({
  group: 'sql.example.com',
  version: 'v1alpha1',
  kind: 'SqlDatabase',
  description:
    'A database with a primary, which accepts writes, and replicas, one of which takes over when the primary fails.',
  spec: s.object({
    instances: s.int({ minimum: 1, maximum: 9 }).describe('The number of instances, including the primary.').default(3),
    image: s.string({ minLength: 1 }).default('example.com/log-store:v1'),
    failoverAfterSeconds: s
      .int({ minimum: 1 })
      .describe('The time in seconds after which an unresponsive instance is considered lost.')
      .default(15),
  }),
  status: s.object({
    topology: s
      .object({
        epoch: s
          .int()
          .describe('Increases with every fail-over. Instances reject epochs lower than the highest they have seen.'),
        revision: s.int().describe('Increases with every decision.'),
        primary: s.string(),
        inSync: s
          .array(s.string(), { listType: 'set' })
          .describe('The instances that have every confirmed row, including the primary.'),
        joining: s
          .string()
          .describe('A replica that the primary also waits for, although it may not have every row yet.')
          .optional(),
        isInitialised: s
          .bool()
          .describe('Whether the database may contain data. If so, an empty instance never becomes primary.'),
      })
      .describe('The latest decision of the operator. A decision is recorded only if it is based on the previous one.')
      .optional(),
    instances: s
      .array(
        s.object({
          name: s.string(),
          role: s.enum('Primary', 'Replica', 'Joining', 'Silent'),
          lag: s.int().describe('The number of rows that it is behind the primary.').optional(),
          since: s.time().describe('The time of the last change of the role.'),
        }),
        { listType: 'map', keys: ['name'] },
      )
      .default([]),
    current: s.int().describe('The current number of instances.'),
    conditions: s.conditions('Available', 'Redundant'),
  }),
  scale: { specReplicasPath: '.spec.instances', statusReplicasPath: '.status.current' },
  columns: {
    Instances: '.spec.instances',
    Primary: '.status.topology.primary',
    Epoch: '.status.topology.epoch',
    Available: '.status.conditions[?(@.type=="Available")].status',
    Status: '.status.conditions[?(@.type=="Redundant")].message',
  },
})
export type SqlDatabase = Infer<typeof SqlDatabase>
