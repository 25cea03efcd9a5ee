import { isConflict } from '@kubewright/api'
import { AsyncMutex, type Clock, Quantity } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import { quantityOf } from '../../builtins/core/pod/resources/resource-list.ts'
import type { ObjectLookup, SharedObject } from '../../registry/object-lookup.ts'
import type { MutableObject } from '../../resource/object.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { evaluatorFor } from './evaluators.ts'
import type { QuotaEvaluator, ScopeSelector, Usage } from './quota-evaluator.ts'

const quotas = ['', 'v1', 'resourcequotas'] as const
/** How often a quota that others write to at the same time is looked at again. */
const attempts = 4

/** A quota. */
export interface QuotaObject extends SharedObject {
  readonly spec?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly scopes?: readonly string[]
    readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeSelector[] }
  }
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

/** Stores what a quota has used, provided that nobody changed it since it was read. */
export type WriteUsed = (quota: QuotaObject, used: Readonly<Record<string, string>>) => Promise<void>

/** Keeps a namespace within its quotas, and counts what each accepted request uses before it takes effect. */
export function resourceQuota(parts: { lookup: ObjectLookup; clock: Clock; writeUsed: WriteUsed }): AdmissionPlugin {
  const { lookup, clock, writeUsed } = parts
  // Requests of one namespace take turns, so that they do not spoil each other's count.
  const turns = new Map<string, AsyncMutex>()

  const check = async (attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const listed = await lookup.list(quotas, attributes.namespace)
      if (listed.length === 0) return
      // The count must be exact, so it starts from what is stored and not from what is cached.
      const found = await Promise.all(
        listed.map(({ metadata }) => lookup.live(quotas, attributes.namespace, metadata.name!)),
      )
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
        if (!isConflict(error) || attempt === attempts) throw error
      }
    }
  }

  return {
    name: 'ResourceQuota',
    validate: async (attributes) => {
      const { namespace, resource } = attributes
      if (namespace === '' || resource.kind.scope !== 'Namespaced') return
      const evaluator = evaluatorFor(resource)
      if (!evaluator?.handles(attributes)) return
      if ((await lookup.list(quotas, namespace)).length === 0) return
      let turn = turns.get(namespace)
      if (!turn) turns.set(namespace, (turn = new AsyncMutex()))
      await turn.run(() => check(attributes, evaluator))
      if (turn.waiting === 0) turns.delete(namespace)
    },
  }
}

interface Charge {
  readonly quota: QuotaObject
  readonly used: Readonly<Record<string, string>>
}

/** What the request adds to each quota; throws when one would be exceeded. */
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

/** Whether a quota is about the object, as far as its scopes say. */
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

/** What is used more than before; less is left to the quota controller. */
function increaseOf(usage: Usage, before: Usage): Usage {
  const zero = Quantity.of(0)
  return new Map(
    [...usage].map(([name, amount]) => {
      const difference = amount.sub(before.get(name) ?? zero)
      return [name, difference.sign < 0 ? zero : difference]
    }),
  )
}

/** The new count of a quota, or undefined when nothing changes. */
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
