import { isConflict, isNotFound } from '@kubewright/api'
import { type Clock, deepEqual, type Logger, Quantity } from '@kubewright/base'
import { quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import { ObjectLookup } from '../../registry/object-lookup.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { SystemWriter } from '../../verbs/system-writer.ts'
import { evaluatorFor } from './evaluators.ts'
import { isInScope, type QuotaObject } from './resource-quota.ts'

const quotas = ['', 'v1', 'resourcequotas'] as const
/** Many writes are counted together. */
const pause = 50
/** Admission charges a quota before the object is stored: less is believed only when nobody has charged it for so long. */
const patience = 500

/** The parts of the server that {@link startResourceQuotas} uses. */
export interface ResourceQuotaParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Keeps the status of ResourceQuotas equal to what their namespaces use, until disposed: admission counts what is added, this counts
 * what went. It is part of kube-controller-manager in other clusters, and lives here because it counts as admission does.
 */
export async function startResourceQuotas(parts: ResourceQuotaParts): Promise<AsyncDisposable> {
  const lookup = new ObjectLookup(parts)
  const stop = new AbortController()
  // Quotas that seem to be used less than was charged, by uid: at which version, and since when.
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
      // Somebody else counted at the same time: that change brings us back here.
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
          parts.log.error(error, 'Cannot count ResourceQuota', { name: quota.metadata.name })
        }
      }
      // What is in doubt is looked at again, also if nothing changes.
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

/** What the objects of a quota's namespace add up to, for each name that the quota limits. */
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
    // Versions of a resource are the same objects.
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
