import { conversionPath } from '@kubewright/runtime'
import { webhookPort } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { clusterMeta, type ObjectContext, ownMeta, podLabels } from './object-context.ts'
import type { DescribedResource, DescribedWebhook } from './operator-description.ts'

/** The Service of the webhook server. */
export function webhookService(context: ObjectContext): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownMeta(context, 'webhook-service'),
    spec: {
      ports: [{ port: 443, protocol: 'TCP', targetPort: webhookPort }],
      selector: podLabels(context),
    },
  }
}

/**
 * The time limit of webhooks without one of their own: the default of Kubernetes, written out so that it is visible. Requests wait for each
 * webhook, and most clients give up after 30 seconds or more.
 */
const timeoutSeconds = 10

/** The configurations that register the webhooks. */
export function webhookConfigurationsOf(context: ObjectContext): Manifest[] {
  const { mutating, validating } = context.operator
  return [
    ...configuration(context, 'MutatingWebhookConfiguration', 'mutating-webhook-configuration', mutating),
    ...configuration(context, 'ValidatingWebhookConfiguration', 'validating-webhook-configuration', validating),
  ]
}

/** The conversion of a CRD by the webhook server. */
export function conversionOf(context: ObjectContext): object {
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { service: service(context, conversionPath) }, conversionReviewVersions: ['v1'] },
  }
}

/** The annotation of CRDs that are derived from code. */
export const generatedAnnotation = 'kubewright.dev/generated'

/** Adds {@link generatedAnnotation} to a CRD. */
export function markGenerated(crd: DescribedResource['crd']): Manifest {
  const annotations = { ...crd.metadata.annotations, [generatedAnnotation]: 'true' }
  // A CRD has all fields of a manifest.
  return { ...crd, metadata: { ...crd.metadata, annotations } } as unknown as Manifest
}

function configuration(
  context: ObjectContext,
  kind: string,
  name: string,
  webhooks: readonly DescribedWebhook[],
): Manifest[] {
  if (webhooks.length === 0) return []
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: clusterMeta(context, name),
      webhooks: webhooks.map(({ path, registration }) => ({
        ...(mayBlockItself(registration) ? { namespaceSelector: elsewhere(context) } : {}),
        timeoutSeconds,
        ...registration,
        clientConfig: { service: service(context, path) },
      })),
    },
  ]
}

/**
 * Whether the webhook is called for built-in kinds, such as pods, and must answer. Then it would prevent the start of its own pod, which
 * would have to answer.
 */
function mayBlockItself({ rules, failurePolicy }: DescribedWebhook['registration']): boolean {
  const groups = (rules as readonly { readonly apiGroups: readonly string[] }[]).flatMap(({ apiGroups }) => apiGroups)
  return failurePolicy !== 'Ignore' && groups.some((group) => !group.includes('.') || group.endsWith('.k8s.io'))
}

/** A selector for all namespaces except that of the operator. */
function elsewhere({ options }: ObjectContext): object {
  const key = 'kubernetes.io/metadata.name'
  return { matchExpressions: [{ key, operator: 'NotIn', values: [options.namespace] }] }
}

function service({ naming }: ObjectContext, path: string): object {
  return { name: `${naming.prefix}webhook-service`, namespace: naming.namespace, path }
}
