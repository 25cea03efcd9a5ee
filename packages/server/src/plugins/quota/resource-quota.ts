import { isConflict } from '@kubewright/api'
import { AsyncMutex, type Clock, Quantity } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import { quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { ObjectLookup, SharedObject } from '../../registry/object-lookup.ts'
import { andThen } from '../../request/awaitable.ts'
import type { MutableObject } from '../../resource/object.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { evaluatorFor } from './evaluators.ts'
import type { QuotaEvaluator, ScopeSelector, Usage } from './quota-evaluator.ts'

const quotas = ['', 'v1', 'resourcequotas'] as const
/** How often a request retries when other writers change a quota. */
const attempts = 20

/** A ResourceQuota. */
export interface QuotaObject extends SharedObject {
  readonly spec?:
    | {
        readonly hard?: Readonly<Record<string, string>> | undefined
        readonly scopes?: readonly string[] | undefined
        readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeSelector[] | undefined } | undefined
      }
    | undefined
  readonly status?:
    | {
        readonly hard?: Readonly<Record<string, string>> | undefined
        readonly used?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}

/** Stores the usage of a quota. Rejects with a conflict when the quota changed since it was read. */
export type WriteUsed = (quota: QuotaObject, used: Readonly<Record<string, string>>) => Promise<void>

/**
 * Rejects requests that exceed a quota of their namespace, and adds the usage of accepted requests to the quotas before they take
 * effect.
 */
export function resourceQuota(parts: { lookup: ObjectLookup; clock: Clock; writeUsed: WriteUsed }): AdmissionPlugin {
  const { lookup, clock, writeUsed } = parts
  // Requests of the same namespace run one after the other, so that their updates of the usage do not conflict.
  const turns = new Map<string, AsyncMutex>()

  const check = async (attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const listed = await lookup.list(quotas, attributes.namespace)
      if (listed.length === 0) return
      // Reads the store instead of the cache, because the count must be exact.
      const found = await Promise.all(
        listed.map(({ metadata }) => lookup.live(quotas, attributes.namespace, metadata.name!)),
      )
      // Checks all quotas before it writes any, so that a rejected request charges none.
      const charges = chargesOf(
        found.filter((quota) => quota !== undefined) as QuotaObject[],
        attributes,
        evaluator,
        clock.now(),
      )
      if (attributes.dryRun) return
      try {
        for (const { quota, used } of charges) await writeUsed(quota, used)
        return
      } catch (error) {
        // A retry charges the quotas that were written already once more. The quota controller corrects the excess.
        if (!isConflict(error) || attempt === attempts) throw error
      }
    }
  }

  const checkInTurn = async (attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Promise<void> => {
    const { namespace } = attributes
    let turn = turns.get(namespace)
    if (!turn) turns.set(namespace, (turn = new AsyncMutex()))
    await turn.run(() => check(attributes, evaluator))
    // The last request of a burst removes the mutex, so that the map does not grow with the number of namespaces.
    if (turn.waiting === 0) turns.delete(namespace)
  }

  return {
    name: 'ResourceQuota',
    validate: (attributes) => {
      const { namespace, resource } = attributes
      if (namespace === '' || resource.kind.scope !== 'Namespaced') return undefined
      const evaluator = evaluatorFor(resource)
      if (!evaluator?.handles(attributes)) return undefined
      return andThen(lookup.list(quotas, namespace), ({ length }) =>
        length === 0 ? undefined : checkInTurn(attributes, evaluator),
      )
    },
  }
}

interface Charge {
  readonly quota: QuotaObject
  readonly used: Readonly<Record<string, string>>
}

/** The charges of a request for each quota; throws when a quota would be exceeded. */
function chargesOf(
  found: readonly QuotaObject[],
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  now: number,
): Charge[] {
  const object = attributes.object!
  const matching = found.filter((quota) => matches(quota, object, evaluator))
  for (const quota of matching) checkConstraints(quota, attributes, evaluator)
  if (matching.length === 0) return []
  const usage = evaluator.usage(object, now)
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([name]) => name)
  if (negative.length > 0) {
    throw admissionForbidden(attributes, `quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  }
  const charges: Charge[] = []
  for (const quota of matching) {
    const { old } = attributes
    const before = attributes.operation === 'UPDATE' && old && matches(quota, old, evaluator)
    const delta = before ? increaseOf(usage, evaluator.usage(old, now)) : usage
    const used = charge(quota, delta, attributes)
    if (used) charges.push({ quota, used })
  }
  return charges
}

function matches(quota: QuotaObject, object: MutableObject, evaluator: QuotaEvaluator): boolean {
  return Object.keys(quota.status?.hard ?? {}).some(evaluator.covers) && isInScope(quota, object, evaluator)
}

/** Whether the scopes of a quota include the object. */
export function isInScope({ spec }: QuotaObject, object: MutableObject, evaluator: QuotaEvaluator): boolean {
  const scopes: ScopeSelector[] = [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
  return scopes.every((scope) => evaluator.matchesScope(scope, object))
}

function checkConstraints(quota: QuotaObject, attributes: AdmissionAttributes, evaluator: QuotaEvaluator): void {
  const { name } = quota.metadata
  const covered = Object.keys(quota.status?.hard ?? {}).filter(evaluator.covers)
  const missing = evaluator.missing?.(covered, attributes.object!)
  if (missing !== undefined) throw admissionForbidden(attributes, `failed quota: ${name}: ${missing}`)
  if (covered.every((resource) => quota.status?.used?.[resource] !== undefined)) return
  const why = `status unknown for quota: ${name}, resources: ${covered.sort().join(',')}`
  throw admissionForbidden(attributes, why)
}

/** The increases of usage. Decreases are left to the quota controller. */
function increaseOf(usage: Usage, before: Usage): Usage {
  const zero = Quantity.of(0)
  return new Map(
    [...usage].map(([name, amount]) => {
      const difference = amount.sub(before.get(name) ?? zero)
      return [name, difference.sign < 0 ? zero : difference]
    }),
  )
}

/** The new usage of a quota, or undefined when it does not change. */
function charge(
  quota: QuotaObject,
  delta: Usage,
  attributes: AdmissionAttributes,
): Readonly<Record<string, string>> | undefined {
  const { hard = {}, used = {} } = quota.status ?? {}
  const requested = [...delta].filter(([name, amount]) => !amount.isZero() && hard[name] !== undefined)
  if (requested.length === 0) return undefined
  const next: Record<string, string> = { ...used }
  const exceeded: string[] = []
  for (const [name, amount] of requested) {
    const total = quantityOf(used[name]).add(amount)
    next[name] = total.toString()
    if (total.cmp(quantityOf(hard[name])) > 0) exceeded.push(name)
  }
  // Status updates record existing usage, so they are charged but never rejected.
  if (exceeded.length > 0 && attributes.subresource !== 'status') {
    const show = (amountOf: (name: string) => string): string =>
      exceeded
        .sort()
        .map((name) => `${name}=${amountOf(name)}`)
        .join(',')
    throw admissionForbidden(
      attributes,
      `exceeded quota: ${quota.metadata.name}, requested: ${show((name) => delta.get(name)!.toString())}, ` +
        `used: ${show((name) => quantityOf(used[name]).toString())}, limited: ${show((name) => quantityOf(hard[name]).toString())}`,
    )
  }
  return next
}
