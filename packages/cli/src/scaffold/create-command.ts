import type { CommandGroup } from '../command/command.ts'
import { createApiCommand } from './create-api-command.ts'
import { createWebhookCommand } from './create-webhook-command.ts'

/** `kubewright create`: adds to the project. */
export const createCommand: CommandGroup = {
  name: 'create',
  summary: 'Add a kind with its controller (api), or webhooks (webhook)',
  commands: [createApiCommand, createWebhookCommand],
}
