import type { ServerParts } from '../api-server.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import { DiscoveryIndex } from '../discovery/discovery-index.ts'
import { createWebhookClient, type WebhookOptions } from '../outgoing/create-webhook-client.ts'
import type { AdmissionPluginParts } from '../plugins/admission-plugins.ts'

const allowAll: Authorizer = { authorize: async () => ({ allowed: true, reason: '' }) }

/** The parts that admission plugins use, from a server in setup. Everything is authorized unless an authorizer is given. */
export function pluginParts(
  parts: ServerParts,
  { authorizer = allowAll, ...webhooks }: WebhookOptions & { readonly authorizer?: Authorizer | undefined } = {},
): AdmissionPluginParts {
  const discovery = new DiscoveryIndex(parts.resources)
  return { ...parts, authorizer, discovery, webhooks: createWebhookClient(parts, webhooks) }
}
