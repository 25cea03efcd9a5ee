import { crdOf } from '@kubewright/api'
import type { Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { conversionCrd, type WebhookOwner, webhookConfigurations } from './webhook-configurations.ts'

/** What {@link registerLocally} takes. */
export interface RegisterLocallyOptions {
  readonly client: Client
  readonly url: string
  /** PEM. */
  readonly caBundle: string
  readonly log: Logger
}

const fieldManager = 'kubewright-local-webhooks'

/**
 * Has an API server ask the webhooks and conversions of a process that runs elsewhere, until disposed. Definitions must exist; how
 * they were converted before comes back at the end.
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
      // What cannot be undone is left behind, and the rest still is.
      await step().catch((error: unknown) => log.error(error, 'Could not unregister a local webhook'))
    }
  }
  try {
    // Conversions first: webhooks may be asked about objects that have to be converted for them.
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
