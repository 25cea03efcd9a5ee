import type { AnyKind } from '@kubewright/api'
import type { Clock, Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import type { TrustTargets } from './trust-targets.ts'

/** What surrounds {@link watchTargets}. */
export interface WatchTargetsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Ends the watches. */
  readonly signal: AbortSignal
  /** Is told that an object changed, was made or was removed; also when a watch begins. */
  readonly onChange: () => void
}

/**
 * Watches the objects that hold bundles, each on its own so that rights to others are not needed. Resolves when the signal aborts.
 * A watch that fails is opened again, later and later: whoever needs certainty looks from time to time as well.
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
      if (!signal.aborted)
        log.debug('A watch of what holds the webhook certificates failed', { kind: kind.kind, name, error })
    }
    // Aborted, it does not matter how it ends.
    await clock.sleep(delay, { signal }).catch(() => undefined)
    delay = Math.min(delay * 2, 60_000)
  }
}
