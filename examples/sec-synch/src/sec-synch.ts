import { defineResource, type Infer, s } from 'kubewright'

const namespaceName = () => s.string({ minLength: 1, maxLength: 63 })

/** Wants copies of a Secret in other namespaces. */
export const SecSynch = defineResource({
  group: 'tutorial.study.dev',
  version: 'v1alpha1',
  kind: 'SecSynch',
  plural: 'secsynches',
  description: 'Wants copies of a Secret in other namespaces.',
  spec: s
    .object({
      sourceNamespace: namespaceName().describe('Where the Secret is.'),
      secretName: s.string({ minLength: 1, maxLength: 253 }).describe('The name of the Secret, and of its copies.'),
      destinationNamespaces: s
        .array(namespaceName(), { listType: 'set', maxItems: 256 })
        .describe('Where the copies go. Namespaces may be created later.'),
    })
    .rule('!(self.sourceNamespace in self.destinationNamespaces)', {
      message: 'must not contain the source namespace',
      fieldPath: '.destinationNamespaces',
      reason: 'FieldValueInvalid',
    }),
  status: s.object({
    lastSyncTime: s.time().describe('When a copy was made, changed or deleted last.').optional(),
    destinations: s
      .array(
        s.object({
          namespace: s.string(),
          state: s.enum('Copied', 'NoNamespace', 'Occupied'),
          message: s.string().optional(),
        }),
        { listType: 'map', keys: ['namespace'] },
      )
      .describe('What became of each destination.'),
    conditions: s.conditions('Synced'),
  }),
  columns: {
    Secret: '.spec.secretName',
    Synced: '.status.conditions[?(@.type=="Synced")].status',
    Reason: '.status.conditions[?(@.type=="Synced")].reason',
    'Last Sync': '.status.lastSyncTime',
  },
})
export type SecSynch = Infer<typeof SecSynch>
