import { type CrdManifest, crdOf } from '@kubewright/api'
import type {
  MutatingWebhookConfigurationDraft,
  ValidatingWebhookConfigurationDraft,
} from '@kubewright/k8s/admissionregistration/v1'
import type { AnyWebhook } from '../define/any-webhook.ts'
import type { Conversion } from '../define/define-conversion.ts'
import type { WebhookRegistration } from '../define/webhook-registration.ts'
import { conversionPath } from './create-webhook-handler.ts'

/** The parts of an operator that webhooks are registered for. */
export interface WebhookOwner {
  readonly name: string
  readonly webhooks: readonly AnyWebhook[]
  readonly conversions?: readonly Conversion[] | undefined
}

/** How the API server reaches the webhook server: through a Service, or at a URL. */
export interface WebhookTarget {
  readonly service?:
    | { readonly namespace: string; readonly name: string; readonly port?: number | undefined }
    | undefined
  /** Scheme, host and port, such as `https://192.168.1.5:9443`. The paths are appended. */
  readonly url?: string | undefined
  /**
   * The certificate authorities (PEM) for the server's certificate. @default those that the API server trusts, as for
   * ''
   */
  readonly caBundle?: string | undefined
}

/** Options of {@link webhookConfigurations}. */
export interface WebhookConfigurationOptions extends WebhookTarget {
  /** The prefix of the configurations' names. @default the name of the operator and a dash */
  readonly namePrefix?: string | undefined
}

/** The configurations that register an operator's webhooks. Each is absent when the operator has no such webhooks. */
export interface WebhookConfigurations {
  readonly mutating?: MutatingWebhookConfigurationDraft | undefined
  readonly validating?: ValidatingWebhookConfigurationDraft | undefined
}

/**
 * Creates the configurations that register an operator's webhooks with the API server, in the layout of controller-gen.
 */
export function webhookConfigurations(
  operator: WebhookOwner,
  options: WebhookConfigurationOptions,
): WebhookConfigurations {
  const { namePrefix = `${operator.name}-` } = options
  const mutating = entries(operator, 'defaulting', options)
  const validating = entries(operator, 'validation', options)
  const apiVersion = 'admissionregistration.k8s.io/v1'
  return {
    ...(mutating.length === 0
      ? {}
      : {
          mutating: {
            apiVersion,
            kind: 'MutatingWebhookConfiguration',
            metadata: { name: `${namePrefix}mutating-webhook-configuration` },
            webhooks: mutating,
          },
        }),
    ...(validating.length === 0
      ? {}
      : {
          validating: {
            apiVersion,
            kind: 'ValidatingWebhookConfiguration',
            metadata: { name: `${namePrefix}validating-webhook-configuration` },
            webhooks: validating,
          },
        }),
  }
}

/** The CRD of a resource whose versions the webhook server converts. */
export function conversionCrd(conversion: Conversion, target: WebhookTarget): CrdManifest {
  return crdOf(conversion.hub, {
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: clientConfig(conversionPath, target), conversionReviewVersions: ['v1'] },
    },
  })
}

type Entry = NonNullable<MutatingWebhookConfigurationDraft['webhooks']>[number]

function entries(operator: WebhookOwner, half: 'defaulting' | 'validation', target: WebhookTarget): Entry[] {
  const found: Entry[] = []
  for (const webhook of operator.webhooks) {
    const registration = webhook[half]
    if (registration) found.push(entry(registration, target))
  }
  return found
}

function entry(registration: WebhookRegistration, target: WebhookTarget): Entry {
  const { matchConditions, matchPolicy, namespaceSelector, objectSelector, reinvocationPolicy, timeoutSeconds } =
    registration
  return {
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(registration.path, target),
    failurePolicy: registration.failurePolicy,
    ...(matchConditions === undefined ? {} : { matchConditions: [...matchConditions] }),
    ...(matchPolicy === undefined ? {} : { matchPolicy }),
    name: registration.name,
    ...(namespaceSelector === undefined
      ? {}
      : { namespaceSelector: namespaceSelector as Entry['namespaceSelector'] & {} }),
    ...(objectSelector === undefined ? {} : { objectSelector: objectSelector as Entry['objectSelector'] & {} }),
    ...(reinvocationPolicy === undefined ? {} : { reinvocationPolicy }),
    rules: registration.rules.map(({ apiGroups, apiVersions, operations, resources, scope }) => ({
      apiGroups: [...apiGroups],
      apiVersions: [...apiVersions],
      operations: [...operations],
      resources: [...resources],
      scope,
    })),
    sideEffects: registration.sideEffects,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  }
}

/** The client configuration for a path of the webhook server. */
export function clientConfig(path: string, { service, url, caBundle }: WebhookTarget): Entry['clientConfig'] {
  if ((service === undefined) === (url === undefined)) {
    throw new TypeError(
      `Cannot register webhooks: set either 'service' or 'url', so that the API server can reach them`,
    )
  }
  return {
    ...(caBundle === undefined || caBundle === '' ? {} : { caBundle: Buffer.from(caBundle).toString('base64') }),
    ...(service === undefined
      ? {}
      : {
          service: {
            name: service.name,
            namespace: service.namespace,
            path,
            ...(service.port === undefined ? {} : { port: service.port }),
          },
        }),
    ...(url === undefined ? {} : { url: url.replace(/\/$/, '') + path }),
  }
}
