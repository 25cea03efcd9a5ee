import { crdOf, isForbidden, isInvalid, type JsonPatchOperation } from '@kubewright/api'
import { KubewrightError, type Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import {
  MutatingWebhookConfiguration,
  type MutatingWebhookConfigurationDraft,
  ValidatingWebhookConfiguration,
  type ValidatingWebhookConfigurationDraft,
} from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { conversionPath } from './create-webhook-handler.ts'
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
 * must exist; their previous conversion settings are restored at the end. Configurations that `kubewright deploy` has
 * installed are redirected to this process and restored at the end, which the operator's own role permits. Creating new
 * ones needs further permissions.
 */
export async function registerLocally(
  operator: WebhookOwner,
  options: RegisterLocallyOptions,
): Promise<AsyncDisposable> {
  const { client, url, caBundle, log } = options
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
      const { conversion: now } = conversionCrd(conversion, { url, caBundle }).spec
      undo.push(() => restoreConversion(client, name, before, `${url.replace(/\/$/, '')}${conversionPath}`))
      await client.patch(CustomResourceDefinition, name, replaceConversion(now), { fieldManager })
    }
    const installed = webhookConfigurations(operator, { url, caBundle })
    const local = webhookConfigurations(operator, { url, caBundle, namePrefix: `${operator.name}-local-` })
    for (const half of ['mutating', 'validating'] as const) {
      const redirected = installed[half] && (await redirect(client, installed[half]))
      if (redirected) undo.push(redirected)
      const draft = local[half]
      if (redirected || draft === undefined) continue
      undo.push(() => client.delete(kindOf(draft), `${draft.metadata.name}`))
      await client.apply(draft, { fieldManager, force: true }).catch((error: unknown) => {
        // Nothing was created, so nothing is deleted.
        undo.pop()
        throw isForbidden(error) ? notAllowed(operator.name, error) : error
      })
    }
  } catch (error) {
    await dispose()
    throw error
  }
  log.info('Registered webhooks under a local address', { url })
  return { [Symbol.asyncDispose]: dispose }
}

type Configuration = MutatingWebhookConfigurationDraft | ValidatingWebhookConfigurationDraft

const kindOf = ({
  kind,
}: Configuration): typeof MutatingWebhookConfiguration | typeof ValidatingWebhookConfiguration =>
  kind === 'MutatingWebhookConfiguration' ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration

/**
 * Lets an installed configuration call this process. Resolves to the function that restores it, or to undefined when it is
 * not installed or lacks a webhook.
 */
async function redirect(client: Client, draft: Configuration): Promise<(() => Promise<unknown>) | undefined> {
  const kind = kindOf(draft)
  const name = `${draft.metadata.name}`
  const found = await client.find(kind, name).catch((error: unknown) => {
    // Without permission to read it, the operator cannot change it either.
    if (isForbidden(error)) return undefined
    throw error
  })
  const entries = found?.webhooks ?? []
  const targets = (draft.webhooks ?? []).map((own) => ({
    own,
    index: entries.findIndex((one) => one.name === own.name),
  }))
  if (found === undefined || targets.some(({ index }) => index < 0)) return undefined
  const change = (configOf: (target: (typeof targets)[number]) => unknown): JsonPatchOperation[] =>
    targets.flatMap((target) => [
      // Fails if another process has changed the list.
      { op: 'test', path: `/webhooks/${target.index}/name`, value: target.own.name },
      { op: 'replace', path: `/webhooks/${target.index}/clientConfig`, value: configOf(target) },
    ])
  const now = change(({ own }) => own.clientConfig)
  const before = change(({ index }) => entries[index]!.clientConfig)
  await client.patch(kind, name, now, { fieldManager })
  return () => client.patch(kind, name, before, { fieldManager })
}

function notAllowed(operator: string, cause: unknown): KubewrightError {
  const message = `Cannot register the webhooks of "${operator}": ${(cause as Error).message}`
  const fix = `install them with 'kubewright deploy', or run with credentials that may create webhook configurations`
  return new KubewrightError('KW_WEBHOOK_REGISTRATION', `${message}: ${fix}`, { cause })
}

/** Restores the conversion of a CRD, unless another process has registered its own in the meantime. */
async function restoreConversion(client: Client, name: string, before: unknown, own: string): Promise<void> {
  const test = { op: 'test' as const, path: '/spec/conversion/webhook/clientConfig/url', value: own }
  const patch = [test, ...replaceConversion(before)]
  await client.patch(CustomResourceDefinition, name, patch, { fieldManager }).catch((error: unknown) => {
    if (!isInvalid(error)) throw error
  })
}

function replaceConversion(value: unknown): { op: 'add'; path: string; value: unknown }[] {
  return [{ op: 'add', path: '/spec/conversion', value }]
}
