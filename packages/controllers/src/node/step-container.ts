import { toTime } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import { formatDuration } from '@kubewright/base'
import type { ContainerState, ContainerStatus } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'
import type { ContainerScript, PlannedContainer } from './node-plan.ts'

/** A container status, read or computed. */
export type StatusOf = DeepReadonly<ContainerStatus>

/** The transitions of a container in a step. */
export type ContainerNews = 'started' | 'ended' | 'backed-off' | 'pull-failed' | 'config-failed'

/**
 * Exact times in milliseconds; the status has whole seconds only. After a restart of this process the status is used
 * instead.
 */
export interface ContainerTimes {
  startedAt?: number | undefined
  finishedAt?: number | undefined
  /** The exit code with which the container crashes now, if it runs. */
  crash?: number | undefined
}

/** Input of {@link stepContainer}. */
export interface ContainerFacts {
  readonly container: PlannedContainer
  readonly script: ContainerScript
  readonly restartPolicy: 'Always' | 'Never' | 'OnFailure'
  /** `pod_namespace(uid)`, for messages. */
  readonly podText: string
  readonly containerID: string
  /** The earliest start time. */
  readonly since: number
  readonly now: number
  /** The state of a real process: its exit code, or none while it runs. Absent for simulated containers. */
  readonly process?: { readonly exitCode?: number | undefined } | undefined
  /** Why the container cannot be created: its volumes are not mounted, or an object of its environment is missing. */
  readonly hold?: 'unmounted' | { readonly config: string } | undefined
}

/** The result of {@link stepContainer}. */
export interface ContainerStep {
  readonly status: ContainerStatus
  readonly news: readonly ContainerNews[]
  /** The delay until the next step, in milliseconds. */
  readonly wakeIn: number | undefined
}

const firstBackoff = 10_000
const longestBackoff = 300_000
// An upper bound on the steps at one moment; it only guards against an endless loop.
const stepLimit = 8

/** Advances a container to the current time. */
export function stepContainer(
  current: StatusOf | undefined,
  times: ContainerTimes,
  facts: ContainerFacts,
): ContainerStep {
  const news: ContainerNews[] = []
  let status = (current ?? waiting(facts, 'ContainerCreating')) as ContainerStatus
  for (let step = 0; step < stepLimit; step++) {
    const next = advance(status, times, facts, news)
    if (next === undefined) break
    status = next
  }
  const wake = dueAt(status, times, facts)
  return { status, news, wakeIn: wake === undefined ? undefined : Math.max(0, wake - facts.now) }
}

function advance(
  status: ContainerStatus,
  times: ContainerTimes,
  facts: ContainerFacts,
  news: ContainerNews[],
): ContainerStatus | undefined {
  const { now, script } = facts
  const { running, terminated, waiting: wait } = status.state ?? {}
  const due = dueAt(status, times, facts)
  if (wait !== undefined) {
    if (facts.hold !== undefined && wait.reason !== 'CrashLoopBackOff') return held(status, facts.hold, news)
    if (script.imageError !== undefined && status.lastState === undefined) {
      if (wait.reason === script.imageError) return undefined
      news.push('pull-failed')
      const message = `failed to pull image "${facts.container.image ?? ''}"`
      return { ...status, state: { waiting: { reason: script.imageError, message } } }
    }
    if (due === undefined || due > now) return undefined
    if (facts.hold !== undefined) return held(status, facts.hold, news)
    news.push('started')
    return started(status, times, facts, status.lastState?.terminated !== undefined)
  }
  if (running !== undefined) {
    const { crash } = times
    if (crash !== undefined) {
      times.crash = undefined
      news.push('ended')
      return ended(status, times, facts, crash, now)
    }
    // When the process was started in this step, the known exit code belongs to the previous process.
    const known = news.includes('started') ? undefined : facts.process?.exitCode
    const exitCode = facts.process === undefined ? script.exitCode : known
    const over = facts.process === undefined ? endsAt(times, running.startedAt, facts) : now
    if (exitCode !== undefined && over !== undefined && over <= now) {
      news.push('ended')
      return ended(status, times, facts, exitCode, Math.max(over, startOf(times, running.startedAt, facts)))
    }
    const ready = isReady(times, running.startedAt, facts)
    return ready === status.ready ? undefined : { ...status, ready }
  }
  if (terminated === undefined || !restarts(facts, terminated.exitCode)) return undefined
  // The first restart has no back-off.
  if (status.restartCount === 0) {
    if (facts.hold !== undefined)
      return held({ ...status, lastState: status.state ?? {}, started: false }, facts.hold, news)
    news.push('started')
    return started(status, times, facts, true)
  }
  news.push('backed-off')
  const delay = formatDuration(backoff(status.restartCount))
  const message = `back-off ${delay} restarting failed container=${facts.container.name} pod=${facts.podText}`
  const state = { waiting: { reason: 'CrashLoopBackOff', message } }
  return { ...status, state, lastState: status.state ?? {}, ready: false, started: false }
}

/** The waiting state of a container that cannot be created. Undefined when it has that state already. */
function held(
  status: ContainerStatus,
  hold: NonNullable<ContainerFacts['hold']>,
  news: ContainerNews[],
): ContainerStatus | undefined {
  const reason = hold === 'unmounted' ? 'ContainerCreating' : 'CreateContainerConfigError'
  const wait = hold === 'unmounted' ? { reason } : { reason, message: hold.config }
  const before = status.state?.waiting
  if (before?.reason === wait.reason && before.message === wait.message) return undefined
  if (hold !== 'unmounted') news.push('config-failed')
  return { ...status, state: { waiting: wait } }
}

/** The time of the container's next transition; undefined when there is none. */
function dueAt(status: ContainerStatus, times: ContainerTimes, facts: ContainerFacts): number | undefined {
  const { running, waiting: wait } = status.state ?? {}
  if (wait?.reason === 'CrashLoopBackOff') {
    const ended = times.finishedAt ?? knownTime(status.lastState?.terminated?.finishedAt) ?? facts.now
    return ended + backoff(status.restartCount)
  }
  if (wait !== undefined)
    return facts.script.imageError === undefined && facts.hold === undefined
      ? facts.since + facts.script.startDelay
      : undefined
  if (running === undefined) return undefined
  const end = facts.process === undefined ? endsAt(times, running.startedAt, facts) : undefined
  const { ready, readyAfter } = facts.script
  const readyAt = ready && !status.ready ? startOf(times, running.startedAt, facts) + readyAfter : undefined
  return end === undefined ? readyAt : readyAt === undefined ? end : Math.min(end, readyAt)
}

const startOf = (times: ContainerTimes, shown: string | undefined, { now }: ContainerFacts): number =>
  times.startedAt ?? knownTime(shown) ?? now

function endsAt(times: ContainerTimes, shown: string | undefined, facts: ContainerFacts): number | undefined {
  const { runFor } = facts.script
  return runFor === undefined ? undefined : startOf(times, shown, facts) + runFor
}

function isReady(times: ContainerTimes, shown: string | undefined, facts: ContainerFacts): boolean {
  return facts.script.ready && startOf(times, shown, facts) + facts.script.readyAfter <= facts.now
}

function started(
  status: ContainerStatus,
  times: ContainerTimes,
  facts: ContainerFacts,
  again: boolean,
): ContainerStatus {
  const { now, script } = facts
  times.startedAt = now
  delete times.finishedAt
  const last = status.state?.terminated === undefined ? status.lastState : status.state
  return {
    ...status,
    state: { running: { startedAt: toTime(now) } },
    ...(again ? { restartCount: status.restartCount + 1, lastState: last ?? {} } : {}),
    ready: script.ready && script.readyAfter <= 0,
    started: true,
    containerID: facts.containerID,
  }
}

function ended(
  status: ContainerStatus,
  times: ContainerTimes,
  facts: ContainerFacts,
  exitCode: number,
  at: number,
): ContainerStatus {
  times.finishedAt = at
  const state = terminatedState(status.state, exitCode, at, facts.containerID)
  return { ...status, state, ready: false, started: false }
}

/** The state of a terminated container. */
export function terminatedState(
  state: ContainerState | undefined,
  exitCode: number,
  at: number,
  containerID: string,
): ContainerState {
  const startedAt = state?.running?.startedAt
  return {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      ...(startedAt === undefined ? {} : { startedAt }),
      finishedAt: toTime(at),
      containerID,
    },
  }
}

function waiting({ container }: ContainerFacts, reason: string): ContainerStatus {
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: '',
    state: { waiting: { reason } },
    ready: false,
    restartCount: 0,
    started: false,
  }
}

const restarts = ({ restartPolicy }: ContainerFacts, exitCode: number): boolean =>
  restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0)

const backoff = (restarted: number): number => Math.min(firstBackoff * 2 ** Math.max(0, restarted - 1), longestBackoff)
