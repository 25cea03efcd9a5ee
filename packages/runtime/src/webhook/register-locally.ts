import { crdOf } from '@kubewright/api'
import type { Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { conversionCrd, type WebhookOwner, webhookConfigurations } from './webhook-configurations.ts'

/** Options of {@link registerLocally}. */
export interface RegisterLocallyOptions {
  readonly client: Client
  readonly url: string
  /** PEM. */
  readonly caBundle: string
  readonly log: Logger
}

const fieldManager = 'kubewright-local-webhooks'

/**
 * Registers the webhooks and conversions of a process outside the cluster with the API server, until disposed. The CRDs
 * must exist; their previous conversion settings are restored at the end.
 */
export async function registerLocally(
  operator: WebhookOwner,
  options: RegisterLocallyOptions,
): Promise<AsyncDisposable> {
  const { client, url, caBundle, log } = options
  const namePrefix = `${operator.name}-local-`
  const { mutating, validating } = webhookConfigurations(operator, { url, caBundle, namePrefix })
  const undo: (() => Promise<unknown>)[] = []
  const dispose = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) {
      // A step that fails is logged; the remaining steps still run.
      await step().catch((error: unknown) => log.error(error, 'Local webhook was not unregistered'))
    }
  }
  try {
    // Conversions first: webhooks may receive objects that must be converted for them.
    for (const conversion of operator.conversions ?? []) {
      const { name } = crdOf(conversion.hub).metadata
      const before = (await client.get(CustomResourceDefinition, name)).spec.conversion ?? { strategy: 'None' }
      undo.push(() => client.patch(CustomResourceDefinition, name, replaceConversion(before), { fieldManager }))
      const { conversion: now } = conversionCrd(conversion, { url, caBundle }).spec
      await client.patch(CustomResourceDefinition, name, replaceConversion(now), { fieldManager })
    }
    if (mutating) {
      undo.push(() => client.delete(MutatingWebhookConfiguration, `${mutating.metadata.name}`))
      await client.apply(mutating, { fieldManager, force: true })
    }
    if (validating) {
      undo.push(() => client.delete(ValidatingWebhookConfiguration, `${validating.metadata.name}`))
      await client.apply(validating, { fieldManager, force: true })
    }
  } catch (error) {
    await dispose()
    throw error
  }
  log.info('Registered webhooks under a local address', { url })
  return { [Symbol.asyncDispose]: dispose }
}

function replaceConversion(value: unknown): { op: 'add'; path: string; value: unknown }[] {
  return [{ op: 'add', path: '/spec/conversion', value }]
}
