import { defineResource, type Infer, s } from 'kubewright'

/** A database with a primary, which takes writes, and replicas, one of which takes over when it fails. */
export const SqlDatabase = defineResource({
  group: 'sql.example.com',
  version: 'v1alpha1',
  kind: 'SqlDatabase',
  description: 'A database with a primary, which takes writes, and replicas, one of which takes over when it fails.',
  spec: s.object({
    instances: s.int({ minimum: 1, maximum: 9 }).describe('The primary and its replicas.').default(3),
    image: s.string({ minLength: 1 }).default('example.com/log-store:v1'),
    failoverAfterSeconds: s
      .int({ minimum: 1 })
      .describe('How long an instance may be silent before the others go on without it.')
      .default(15),
  }),
  status: s.object({
    topology: s
      .object({
        epoch: s.int().describe('Rises with every fail-over; who has seen a higher one obeys no lower one.'),
        revision: s.int().describe('Rises with every decision.'),
        primary: s.string(),
        inSync: s
          .array(s.string(), { listType: 'set' })
          .describe('Those that have every row that was ever confirmed, the primary included.'),
        joining: s
          .string()
          .describe('One that the primary waits for too, although it may not have everything yet.')
          .optional(),
        isInitialised: s.bool().describe('Whether there may be data: from then on no empty instance becomes primary.'),
      })
      .describe('What was decided. Every decision is made on the latest one, or not at all.')
      .optional(),
    instances: s
      .array(
        s.object({
          name: s.string(),
          role: s.enum('Primary', 'Replica', 'Joining', 'Silent'),
          lag: s.int().describe('How many rows it is behind the primary.').optional(),
          since: s.time().describe('When it took the role.'),
        }),
        { listType: 'map', keys: ['name'] },
      )
      .default([]),
    current: s.int().describe('How many instances there are.'),
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
