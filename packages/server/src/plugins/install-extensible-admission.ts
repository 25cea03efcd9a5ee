import type { ServerParts } from '../api-server.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import { type Outgoing, systemOutgoing } from '../outgoing/outgoing.ts'
import { endpointResolver, type ServiceResolver } from '../outgoing/service-resolver.ts'
import { WebhookClient } from '../outgoing/webhook-client.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import { validatingPolicies } from './policies/validating-policies.ts'
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts'
import { validatingWebhooks } from './webhooks/validating-webhooks.ts'

/** How a server reaches webhooks. */
export interface WebhookOptions {
  /** @default over real connections */
  readonly outgoing?: Outgoing | undefined
  /** Where services are. @default one of their endpoints, or their external name */
  readonly resolveService?: ServiceResolver | undefined
}

/** What calls the webhooks of a server, whatever they are for. */
export function createWebhookClient(parts: ServerParts, options: WebhookOptions = {}): WebhookClient {
  const { outgoing = systemOutgoing, resolveService } = options
  return new WebhookClient({
    outgoing,
    resolveService: resolveService ?? endpointResolver(new ObjectLookup(parts), parts.random),
    clock: parts.clock,
  })
}

/**
 * Adds admission webhooks and policies to a server whose built-in plugins are in place. They come after those, but before quota, which
 * is to count what is really created.
 */
export function installExtensibleAdmission(parts: ServerParts, authorizer: Authorizer, client: WebhookClient): void {
  const { registry, resources, admission, clock, random, log } = parts
  const lookup = new ObjectLookup(parts)
  const webhooks = { registry, resources, log, client, authorizer, lookup, clock, random }
  const quota = admission.findIndex(({ name }) => name === 'ResourceQuota')
  admission.splice(
    quota < 0 ? admission.length : quota,
    0,
    mutatingWebhooks(webhooks),
    validatingPolicies(webhooks),
    validatingWebhooks(webhooks),
  )
}
