import { findCondition, toTime } from '@kubewright/api'
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '@kubewright/k8s'

/** Input of {@link podConditions}. */
export interface ConditionFacts {
  readonly pod: Pod
  readonly phase: NonNullable<PodStatus['phase']>
  readonly initialized: boolean
  readonly uninitialized: readonly string[]
  readonly containers: readonly ContainerStatus[]
  /** False while volumes are not mounted. @default true */
  readonly hasSandbox?: boolean | undefined
  readonly now: number
}

/** The conditions that the node agent maintains, in kubelet's order, merged with those of other writers. */
export function podConditions(facts: ConditionFacts): PodCondition[] {
  const { pod, now } = facts
  const current = (pod.status?.conditions ?? []) as readonly PodCondition[]
  const drafts = [
    { type: 'PodReadyToStartContainers', status: facts.hasSandbox === false ? 'False' : 'True' },
    initializedCondition(facts),
    readyCondition(facts),
    containersReady(facts),
    { type: 'PodScheduled', status: 'True' },
  ].map((draft): PodCondition => {
    const before = findCondition(current, draft.type)
    const { generation } = pod.metadata
    const time = before?.status === draft.status ? before.lastTransitionTime : toTime(now)
    const condition: { -readonly [K in keyof PodCondition]: PodCondition[K] } = { ...draft }
    if (generation !== undefined) condition.observedGeneration = generation
    if (time !== undefined) condition.lastTransitionTime = time
    return condition
  })
  const own = new Set(drafts.map(({ type }) => type))
  return [...drafts, ...current.filter(({ type }) => !own.has(type))]
}

type Draft = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>

function initializedCondition({ initialized, phase, uninitialized }: ConditionFacts): Draft {
  if (phase === 'Succeeded') return { type: 'Initialized', status: 'True', reason: 'PodCompleted' }
  if (initialized) return { type: 'Initialized', status: 'True' }
  const message = `containers with incomplete status: [${uninitialized.join(' ')}]`
  return { type: 'Initialized', status: 'False', reason: 'ContainersNotInitialized', message }
}

function containersReady({ containers, phase }: ConditionFacts): Draft {
  const type = 'ContainersReady'
  if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' }
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name)
  if (unready.length === 0) return { type, status: 'True' }
  const message = `containers with unready status: [${unready.join(' ')}]`
  return { type, status: 'False', reason: 'ContainersNotReady', message }
}

function readyCondition(facts: ConditionFacts): Draft {
  const containers = containersReady(facts)
  if (containers.status !== 'True') return { ...containers, type: 'Ready' }
  const messages = (facts.pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = findCondition(facts.pod.status?.conditions, conditionType)
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    if (gate.status === 'True') return []
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
  })
  if (messages.length === 0) return { type: 'Ready', status: 'True' }
  return { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') }
}
