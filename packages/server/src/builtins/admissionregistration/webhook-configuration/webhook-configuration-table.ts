import type { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, integerColumn, nameColumn } from '../../../table/columns.ts'

/** The columns of both kinds of webhook configurations. */
export const webhookConfigurationTable: TableDefinition = defineTable<
  MutatingWebhookConfiguration | ValidatingWebhookConfiguration
>([nameColumn, integerColumn('Webhooks', 'Number of webhooks.', ({ webhooks }) => webhooks?.length ?? 0), ageColumn])
