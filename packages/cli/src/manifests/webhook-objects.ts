import { conversionPath } from '@kubewright/runtime'
import { injectedMeta, injection, webhookPort } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { type ObjectContext, ownMeta, podLabels } from './object-context.ts'
import type { DescribedResource, DescribedWebhook } from './operator-description.ts'

/** Where API servers find the webhooks. */
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

/** Has API servers ask the webhooks. */
export function webhookConfigurationsOf(context: ObjectContext): Manifest[] {
  const { mutating, validating } = context.operator
  return [
    ...configuration(context, 'MutatingWebhookConfiguration', 'mutating-webhook-configuration', mutating),
    ...configuration(context, 'ValidatingWebhookConfiguration', 'validating-webhook-configuration', validating),
  ]
}

/** How a definition says that its versions are converted by the webhook server. */
export function conversionOf(context: ObjectContext): object {
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { service: service(context, conversionPath) }, conversionReviewVersions: ['v1'] },
  }
}

/** A definition as it is installed, with the conversion that it needs. */
export function definitionOf(context: ObjectContext, { crd, isConverted }: DescribedResource): Manifest {
  const generated = markGenerated(crd)
  if (!isConverted) return generated
  const annotations = { ...generated.metadata.annotations, ...injection(context) }
  const { group, ...rest } = crd.spec
  return {
    ...generated,
    metadata: { ...generated.metadata, annotations },
    spec: { conversion: conversionOf(context), group, ...rest },
  }
}

/** Says of a definition that it is derived from code. */
export const generatedAnnotation = 'kubewright.dev/generated'

/** A definition with the mark of what is derived from code. */
export function markGenerated(crd: DescribedResource['crd']): Manifest {
  const annotations = { ...crd.metadata.annotations, [generatedAnnotation]: 'true' }
  // A definition has all that a manifest has.
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
      metadata: injectedMeta(context, name),
      webhooks: webhooks.map(({ path, registration }) => ({
        ...(mayBlockItself(registration) ? { namespaceSelector: elsewhere(context) } : {}),
        ...registration,
        clientConfig: { service: service(context, path) },
      })),
    },
  ]
}

/**
 * Whether the webhook is asked about what a cluster is made of, such as pods, and has to answer: then the pod that would answer could
 * not start before it runs.
 */
function mayBlockItself({ rules, failurePolicy }: DescribedWebhook['registration']): boolean {
  const groups = (rules as readonly { readonly apiGroups: readonly string[] }[]).flatMap(({ apiGroups }) => apiGroups)
  return failurePolicy !== 'Ignore' && groups.some((group) => !group.includes('.') || group.endsWith('.k8s.io'))
}

/** All namespaces but that of the operator: by the label that it brings along, where it brings it along. */
function elsewhere({ operator, naming }: ObjectContext): object {
  const own = naming.isNamespaceGiven
    ? { key: 'kubernetes.io/metadata.name', values: [naming.namespace] }
    : { key: 'app.kubernetes.io/name', values: [operator.name] }
  return { matchExpressions: [{ ...own, operator: 'NotIn' }] }
}

function service({ naming }: ObjectContext, path: string): object {
  return { name: `${naming.prefix}webhook-service`, namespace: naming.namespace, path }
}
