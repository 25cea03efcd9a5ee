import type { Clock, Random } from '@kubewright/base'
import type { ObjectAccess } from '../registry/object-access.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import { type Outgoing, systemOutgoing } from './outgoing.ts'
import { endpointResolver, type ServiceResolver } from './service-resolver.ts'
import { WebhookClient } from './webhook-client.ts'

/** Options of {@link createWebhookClient}. */
export interface WebhookOptions {
  /** @default real connections */
  readonly outgoing?: Outgoing | undefined
  /** Resolves services to addresses. @default one of their endpoints, or their external name */
  readonly resolveService?: ServiceResolver | undefined
}

/** Creates the client that calls the admission and conversion webhooks of a server. */
export function createWebhookClient(
  parts: ObjectAccess & { readonly clock: Clock; readonly random: Random },
  options: WebhookOptions = {},
): WebhookClient {
  const { outgoing = systemOutgoing, resolveService } = options
  return new WebhookClient({
    outgoing,
    resolveService: resolveService ?? endpointResolver(new ObjectLookup(parts), parts.random),
    clock: parts.clock,
  })
}
