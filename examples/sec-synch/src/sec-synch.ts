import { defineResource, type Infer, s } from 'kubewright'

const namespaceName = () => s.string({ minLength: 1, maxLength: 63 })

/** Requests copies of a Secret in other namespaces. */
export const SecSynch = defineResource({
  group: 'tutorial.study.dev',
  version: 'v1alpha1',
  kind: 'SecSynch',
  plural: 'secsynches',
  description: 'Requests copies of a Secret in other namespaces.',
  spec: s
    .object({
      sourceNamespace: namespaceName().describe('The namespace of the Secret.'),
      secretName: s.string({ minLength: 1, maxLength: 253 }).describe('The name of the Secret and of its copies.'),
      destinationNamespaces: s
        .array(namespaceName(), { listType: 'set', maxItems: 256 })
        .describe('The namespaces of the copies. They may be created later.'),
    })
    .rule('!(self.sourceNamespace in self.destinationNamespaces)', {
      message: 'must not contain the source namespace',
      fieldPath: '.destinationNamespaces',
      reason: 'FieldValueInvalid',
    }),
  status: s.object({
    lastSyncTime: s.time().describe('The last time a copy was created, updated or deleted.').optional(),
    destinations: s
      .array(
        s.object({
          namespace: s.string(),
          state: s.enum('Copied', 'NoNamespace', 'Occupied'),
          message: s.string().optional(),
        }),
        { listType: 'map', keys: ['namespace'] },
      )
      .describe('The state of each destination.'),
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
