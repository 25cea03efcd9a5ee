import { isConflict, isNotFound } from '@kubewright/api'
import { type Clock, deepEqual, type Logger, Quantity } from '@kubewright/base'
import { quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import { ObjectLookup } from '../../registry/object-lookup.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { SystemWriter } from '../../verbs/write/system-writer.ts'
import { evaluatorFor } from './evaluators.ts'
import { isInScope, type QuotaObject } from './resource-quota.ts'

const quotas = ['', 'v1', 'resourcequotas'] as const
/** Milliseconds between rounds, so that many writes are counted together. */
const pause = 50
/**
 * Admission charges a quota before the object is stored. A lower count is written only after the quota stayed unchanged for this
 * many milliseconds.
 */
const patience = 500

/** The parts of the server that {@link startResourceQuotas} uses. */
export interface ResourceQuotaParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Keeps the status of ResourceQuotas equal to the usage of their namespaces until disposed. Admission counts new objects; this
 * controller also counts deleted ones. In other clusters it is part of kube-controller-manager; it lives here because it shares the
 * evaluators of admission.
 */
export async function startResourceQuotas(parts: ResourceQuotaParts): Promise<AsyncDisposable> {
  const lookup = new ObjectLookup(parts)
  const stop = new AbortController()
  // Quotas whose count is lower than their status, by uid, with the resource version and the time of the first observation.
  const doubts = new Map<string, { readonly version: string | undefined; readonly since: number }>()
  const count = async (quota: QuotaObject): Promise<void> => {
    const { hard = {} } = quota.spec ?? {}
    const used = await usedOf(quota, hard, parts, lookup)
    const { status } = quota
    const { uid = '', resourceVersion: version } = quota.metadata
    const known = doubts.get(uid)
    doubts.delete(uid)
    if (deepEqual(status?.hard ?? {}, hard) && deepEqual(status?.used ?? {}, used)) return
    if (isLess(used, status?.used)) {
      const since = known?.version === version ? known!.since : parts.clock.monotonic()
      if (parts.clock.monotonic() - since < patience) return void doubts.set(uid, { version, since })
    }
    try {
      await parts.writer.putStatus('resourcequotas', { ...quota, status: { hard, used } } as MutableObject)
    } catch (error) {
      // A conflicting write is a change itself and leads to the next round.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const changed = parts.registry.feed.changed(stop.signal)
      for (const quota of (await lookup.list(quotas)) as QuotaObject[]) {
        try {
          await count(quota)
        } catch (error) {
          parts.log.error(error, 'Failed to compute the usage of a ResourceQuota', { name: quota.metadata.name })
        }
      }
      // Pending lower counts are checked again even if nothing changes.
      const again = (): Promise<void> => parts.clock.sleep(patience, { signal: stop.signal }).catch(() => undefined)
      await (doubts.size > 0 ? Promise.race([changed, again()]) : changed)
      await parts.clock.sleep(pause, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}

function isLess(used: Readonly<Record<string, string>>, before: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(used).some(([name, amount]) => quantityOf(amount).cmp(quantityOf(before[name] ?? '0')) < 0)
}

/** The total usage of a quota's namespace for each resource name that the quota limits. */
async function usedOf(
  quota: QuotaObject,
  hard: Readonly<Record<string, string>>,
  { resources, clock }: ResourceQuotaParts,
  lookup: ObjectLookup,
): Promise<Record<string, string>> {
  const names = Object.keys(hard)
  const totals = new Map<string, Quantity>(names.map((name) => [name, Quantity.of(0)]))
  const seen = new Set<string>()
  for (const resource of resources.all()) {
    const { group, version, plural, scope } = resource.kind
    const evaluator = evaluatorFor(resource)
    // All versions of a resource have the same objects.
    if (scope !== 'Namespaced' || seen.has(`${group}/${plural}`) || !evaluator || !names.some(evaluator.covers))
      continue
    seen.add(`${group}/${plural}`)
    for (const object of await lookup.list([group, version, plural], quota.metadata.namespace)) {
      if (!isInScope(quota, object as MutableObject, evaluator)) continue
      for (const [name, amount] of evaluator.usage(object as MutableObject, clock.now())) {
        const total = totals.get(name)
        if (total !== undefined) totals.set(name, total.add(amount))
      }
    }
  }
  return Object.fromEntries(
    [...totals].map(([name, total]) => [name, total.isZero() ? quantityOf('0').toString() : total.toString()]),
  )
}
