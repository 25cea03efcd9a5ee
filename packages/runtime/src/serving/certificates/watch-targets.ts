import type { AnyKind } from '@kubewright/api'
import type { Clock, Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import type { TrustTargets } from './trust-targets.ts'

/** Options of {@link watchTargets}. */
export interface WatchTargetsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Stops the watches. */
  readonly signal: AbortSignal
  /** Called when a target was created, changed or deleted, and when a watch starts. */
  readonly onChange: () => void
}

/**
 * Watches the targets, each with its own request, so that permissions for other objects are not needed. Resolves when
 * the signal aborts. A failed watch is reopened with back-off, and changes may be missed meanwhile: poll as well.
 */
export async function watchTargets(
  client: Pick<Client, 'watch'>,
  { mutating = [], validating = [], crds = [] }: TrustTargets,
  options: WatchTargetsOptions,
): Promise<void> {
  const watched: (readonly [AnyKind, string])[] = [
    ...mutating.map((name) => [MutatingWebhookConfiguration, name] as const),
    ...validating.map((name) => [ValidatingWebhookConfiguration, name] as const),
    ...crds.map((name) => [CustomResourceDefinition, name] as const),
  ]
  await Promise.all(watched.map(([kind, name]) => watchTarget(client, kind, name, options)))
}

async function watchTarget(
  client: Pick<Client, 'watch'>,
  kind: AnyKind,
  name: string,
  { clock, log, signal, onChange }: WatchTargetsOptions,
): Promise<void> {
  const first = 1000
  let delay = first
  while (!signal.aborted) {
    try {
      const events = await client.watch(kind, { fields: { 'metadata.name': name }, signal })
      for await (const _ of events) {
        delay = first
        onChange()
      }
    } catch (error) {
      if (!signal.aborted) log.debug('Watch of a webhook certificate target failed', { kind: kind.kind, name, error })
    }
    // The loop ends when the sleep was aborted.
    await clock.sleep(delay, { signal }).catch(() => undefined)
    delay = Math.min(delay * 2, 60_000)
  }
}
