import { metricsNetworkPolicy, metricsService, serviceMonitor, webhookNetworkPolicy } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import type { ObjectContext } from './object-context.ts'
import { type DescribedResource, hasWebhooks } from './operator-description.ts'
import { prometheusRules } from './prometheus-rules.ts'
import {
  certificateRoles,
  helperRole,
  helperRoles,
  leaderElectionRoles,
  managerRoles,
  metricsAuthRole,
  metricsReaderRole,
  roleBinding,
  serviceAccount,
  trustRoles,
} from './rbac-objects.ts'
import { webhookConfigurationsOf, webhookService } from './webhook-objects.ts'

/** Roles, and the bindings that grant them to the operator. */
export interface GrantedRoles {
  readonly roles: readonly Manifest[]
  readonly bindings: readonly Manifest[]
}

/** A role for users of a resource. */
export interface HelperRole {
  readonly resource: DescribedResource
  readonly who: (typeof helperRoles)[number]
  readonly role: Manifest
}

/** The objects of config/ by their purpose, without CRDs and the Deployment. */
export interface InstallationParts {
  readonly serviceAccount: Manifest
  /** Permissions for the work of the controllers. */
  readonly manager: GrantedRoles
  /** Permissions for leader election and sharding. */
  readonly leaderElection: GrantedRoles
  /** Permissions to manage the certificate of the webhooks; empty without webhooks. */
  readonly certificates: GrantedRoles
  /** Permissions to register the CA of the webhooks; empty without webhooks. */
  readonly trust: GrantedRoles
  /** Permissions to authenticate and authorize readers of metrics. */
  readonly metricsAuth: GrantedRoles
  readonly metricsReader: Manifest
  readonly helpers: readonly HelperRole[]
  readonly metricsService: Manifest
  /** The service of the webhooks and their registrations; empty for an operator without webhooks. */
  readonly webhooks: { readonly service: readonly Manifest[]; readonly configurations: readonly Manifest[] }
  readonly prometheus: { readonly monitor: Manifest; readonly rules: Manifest }
  readonly networkPolicies: { readonly metrics: Manifest; readonly webhooks: readonly Manifest[] }
}

/** Builds the objects of an operator with the names of a context. */
export function installationParts(context: ObjectContext): InstallationParts {
  const { operator } = context
  const granted = (roles: readonly Manifest[]): GrantedRoles => ({
    roles,
    bindings: roles.map((role) => roleBinding(context, role)),
  })
  const webhooks = hasWebhooks(operator)
  return {
    serviceAccount: serviceAccount(context),
    manager: granted(managerRoles(context)),
    leaderElection: granted(leaderElectionRoles(context)),
    certificates: granted(certificateRoles(context)),
    trust: granted(trustRoles(context)),
    metricsAuth: granted([metricsAuthRole(context)]),
    metricsReader: metricsReaderRole(context),
    helpers: operator.resources.flatMap((resource) =>
      helperRoles.map((who) => ({ resource, who, role: helperRole(context, resource, who) })),
    ),
    metricsService: metricsService(context),
    webhooks: {
      service: webhooks ? [webhookService(context)] : [],
      configurations: webhookConfigurationsOf(context),
    },
    prometheus: { monitor: serviceMonitor(context), rules: prometheusRules(context) },
    networkPolicies: {
      metrics: metricsNetworkPolicy(context),
      webhooks: webhooks ? [webhookNetworkPolicy(context)] : [],
    },
  }
}
