import type { HorizontalPodAutoscaler } from '@kubewright/k8s'
import { largest, smallest } from '../workload/extremes.ts'

type Behavior = NonNullable<HorizontalPodAutoscaler['spec']['behavior']>
type Rules = NonNullable<Behavior['scaleUp']>
type Policy = NonNullable<Rules['policies']>[number]

interface Sample {
  readonly at: number
  readonly value: number
}

/** Recent recommendations and scale changes of an autoscaler. */
export interface ScalingHistory {
  readonly recommendations: readonly Sample[]
  /** Replicas added (positive) or removed (negative), with their times. */
  readonly changes: readonly Sample[]
}

/** Input of {@link limitReplicas}. */
export interface LimitFacts {
  readonly current: number
  readonly desired: number
  readonly min: number
  readonly max: number
  readonly behavior: Behavior | undefined
  readonly history: ScalingHistory
  readonly now: number
}

/** A replica count, with the reasons for the conditions AbleToScale and ScalingLimited. */
export interface Limited {
  readonly replicas: number
  readonly ableToScale: { readonly reason: string; readonly message: string }
  readonly limited: { readonly status: boolean; readonly reason: string; readonly message: string }
  readonly history: ScalingHistory
}

const downWindow = 300
const defaultUp: Required<Pick<Rules, 'policies' | 'selectPolicy' | 'stabilizationWindowSeconds'>> = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const defaultDown: typeof defaultUp = {
  stabilizationWindowSeconds: downWindow,
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}
/** The maximum stabilization window and policy period: older history is dropped. */
const longest = 3600_000

/** Limits the proposed replica count: applies stabilization windows, rate policies and the minimum and maximum. */
export function limitReplicas(facts: LimitFacts): Limited {
  const { current, desired, behavior, now } = facts
  const recent = facts.history.recommendations.filter(({ at }) => now - at <= longest)
  const steady = behavior === undefined ? highestOf(recent, desired, now) : withinWindows(facts, recent, behavior)
  const history = { ...facts.history, recommendations: [...recent, { at: now, value: desired }] }
  const up = behavior !== undefined && desired >= current
  const held = up
    ? {
        reason: 'ScaleUpStabilized',
        message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
      }
    : {
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      }
  const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
  const bounded = behavior === undefined ? withinFixedLimits(facts, steady) : withinRates(facts, steady, behavior)
  return {
    replicas: bounded.replicas,
    ableToScale: steady === desired ? ready : held,
    limited: { status: bounded.replicas !== steady, reason: bounded.reason, message: bounded.message },
    history,
  }
}

/** Adds a scale change to the history. */
export function withChange(history: ScalingHistory, from: number, to: number, now: number): ScalingHistory {
  const changes = history.changes.filter(({ at }) => now - at <= longest)
  return { ...history, changes: [...changes, { at: now, value: to - from }] }
}

function highestOf(recent: readonly Sample[], desired: number, now: number): number {
  const window = recent.filter(({ at }) => now - at <= downWindow * 1000)
  return Math.max(desired, largest(window.map(({ value }) => value)))
}

function withinWindows({ current, desired, now }: LimitFacts, recent: readonly Sample[], behavior: Behavior): number {
  const within = ({ stabilizationWindowSeconds: seconds }: Rules, fallback: number): number[] =>
    recent.filter(({ at }) => now - at < (seconds ?? fallback) * 1000).map(({ value }) => value)
  const up = Math.min(desired, smallest(within(behavior.scaleUp ?? {}, 0)))
  const down = Math.max(desired, largest(within(behavior.scaleDown ?? {}, downWindow)))
  return Math.min(down, Math.max(up, current))
}

interface Bounded {
  readonly replicas: number
  readonly reason: string
  readonly message: string
}

const inRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const tooFast = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const tooSlow = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const tooFew = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}

function withinFixedLimits({ current, min, max }: LimitFacts, desired: number): Bounded {
  const fastest = Math.max(2 * current, 4)
  if (desired < min) return { replicas: min, ...tooFew }
  if (desired > Math.min(max, fastest)) {
    return max > fastest ? { replicas: fastest, ...tooFast } : { replicas: max, ...tooMany }
  }
  return { replicas: desired, ...inRange }
}

function withinRates(facts: LimitFacts, desired: number, behavior: Behavior): Bounded {
  const { current, min, max } = facts
  if (desired > current) {
    const limit = Math.max(current, rateLimit(facts, { ...defaultUp, ...behavior.scaleUp }, 1))
    if (desired > Math.min(max, limit)) {
      return max > limit ? { replicas: limit, ...tooFast } : { replicas: max, ...tooMany }
    }
  } else if (desired < current) {
    const limit = Math.min(current, rateLimit(facts, { ...defaultDown, ...behavior.scaleDown }, -1))
    if (desired < Math.max(min, limit)) {
      return min < limit ? { replicas: limit, ...tooSlow } : { replicas: min, ...tooFew }
    }
  }
  return { replicas: desired, ...inRange }
}

/** The limit that the scaling policies set in one direction. */
function rateLimit(facts: LimitFacts, rules: typeof defaultUp, direction: 1 | -1): number {
  const { current } = facts
  if (rules.selectPolicy === 'Disabled') return current
  const limits = rules.policies.map((policy) => policyLimit(facts, policy, direction))
  const least = rules.selectPolicy === 'Min'
  return least === (direction === 1)
    ? limits.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    : limits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
}

function policyLimit({ current, history, now }: LimitFacts, policy: Policy, direction: 1 | -1): number {
  const { type, value, periodSeconds } = policy
  const since = history.changes.filter(({ at }) => now - at < periodSeconds * 1000)
  const before = current - since.reduce((sum, change) => sum + change.value, 0)
  if (type === 'Pods') return before + direction * value
  const share = before * (1 + (direction * value) / 100)
  return direction === 1 ? Math.ceil(share - 1e-9) : Math.trunc(share + 1e-9)
}
