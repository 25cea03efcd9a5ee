import type { Pod, PodStatus } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { now, type PodFacts, pod } from '../testdata/objects.ts'
import type { NodePlan } from './node-plan.ts'
import { deadlineOf, overdueStatus, type PodMemory, type PodNews, stepPod, stoppedStatus, stopsAt } from './step-pod.ts'

/** Runs a pod from one step to the next, as its node would. */
class Life {
  pod: Pod
  time = now
  wakeIn: number | undefined
  readonly news: PodNews[] = []
  readonly #memory: PodMemory = { since: now, containers: new Map(), processes: new Map() }
  readonly #plan: NodePlan

  constructor(facts: PodFacts, plan: NodePlan = {}) {
    this.#plan = plan
    const { status: _, ...fresh } = pod({ node: 'a', ...facts })
    this.pod = fresh
    this.step()
  }

  get status(): PodStatus {
    return this.pod.status as PodStatus
  }

  get state(): string {
    const { phase, containerStatuses = [] } = this.status
    const states = containerStatuses.map(({ name, ready, restartCount, state }) => {
      const what = state?.running ? 'running' : (state?.waiting?.reason ?? `exit ${state?.terminated?.exitCode}`)
      return `${name} ${what}${ready ? ' ready' : ''}${restartCount > 0 ? ` ${restartCount}` : ''}`
    })
    return [phase, ...states].join(', ')
  }

  step(): this {
    const facts = { plan: this.#plan, memory: this.#memory, podIP: '10.64.0.2', hostIP: '192.168.0.1', now: this.time }
    const { news, status, wakeIn } = stepPod(this.pod, facts)
    this.pod = { ...this.pod, status }
    this.wakeIn = wakeIn
    this.news.push(...news)
    return this
  }

  /** Advances the time to the next step; returns how long that took. */
  wake(): number | undefined {
    const wait = this.wakeIn
    if (wait === undefined) return undefined
    this.time += wait
    this.step()
    return wait
  }
}

test('stepPod() starts a pod at once and makes it ready', () => {
  const life = new Life({})
  expect(life.state).toBe('Running, c running ready')
  expect(life.status).toMatchObject({ podIP: '10.64.0.2', hostIP: '192.168.0.1', startTime: '2025-01-01T12:00:00Z' })
  expect(life.status.conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'PodReadyToStartContainers True',
    'Initialized True',
    'Ready True',
    'ContainersReady True',
    'PodScheduled True',
  ])
  expect(life.wakeIn).toBeUndefined()
  const before = life.status
  expect(life.step().status).toEqual(before)
})

test('stepPod() applies the delays of the plan to the millisecond', () => {
  const life = new Life({}, { images: { nginx: { startDelay: '1500ms', readyAfter: '250ms' } } })
  expect(life.state).toBe('Pending, c ContainerCreating')
  expect(life.wake()).toBe(1500)
  expect(life.state).toBe('Running, c running')
  expect(life.status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ContainersNotReady',
    message: 'containers with unready status: [c]',
  })
  expect(life.wake()).toBe(250)
  expect(life.state).toBe('Running, c running ready')
})

test('stepPod() restarts crashed containers with increasing back-off', () => {
  const life = new Life({ annotations: { 'kubewright.dev/exit-code': '1', 'kubewright.dev/run-for': '1s' } })
  const waits: (number | undefined)[] = []
  for (let round = 0; round < 8; round++) waits.push(life.wake())
  expect(waits).toEqual([1000, 1000, 10_000, 1000, 20_000, 1000, 40_000, 1000])
  expect(life.state).toBe('Running, c CrashLoopBackOff 4')
  expect(life.status.containerStatuses?.[0]).toMatchObject({
    state: { waiting: { message: 'back-off 1m20s restarting failed container=c pod=x_test(uid-x)' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error' } },
  })
  expect(life.news.filter(({ what }) => what === 'backed-off')).toHaveLength(4)
})

test('stepPod() finishes a pod with restartPolicy Never', () => {
  const done = new Life({ spec: { restartPolicy: 'Never' } })
  done.wake()
  expect(done.state).toBe('Succeeded, c exit 0')
  expect(done.status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ reason: 'PodCompleted' })
  const failed = new Life({ spec: { restartPolicy: 'Never' } }, { default: { exitCode: 3 } })
  failed.wake()
  expect(failed.state).toBe('Failed, c exit 3')
  expect(failed.wakeIn).toBeUndefined()
})

test('stepPod() restarts only failed containers with restartPolicy OnFailure', () => {
  const life = new Life({ spec: { restartPolicy: 'OnFailure' }, annotations: { 'kubewright.dev/exit-code': '1' } })
  life.wake()
  expect(life.state).toBe('Running, c running ready 1')
})

test('stepPod() never starts a container whose image cannot be pulled', () => {
  const life = new Life({}, { images: { 'ngin*': { imageError: 'ErrImagePull' } } })
  expect(life.state).toBe('Pending, c ErrImagePull')
  expect(life.wakeIn).toBeUndefined()
  expect(life.step().news.map(({ what }) => what)).toEqual(['pull-failed'])
})

test('stepPod() runs init containers in sequence, and sidecars alongside the other containers', () => {
  const spec = {
    initContainers: [
      { name: 'first', image: 'a' },
      { name: 'side', image: 'b', restartPolicy: 'Always' as const },
      { name: 'second', image: 'c' },
    ],
    containers: [{ name: 'c', image: 'nginx' }],
  }
  const life = new Life({ spec }, { images: { a: { runFor: '5s' }, c: { runFor: '3s' } } })
  expect(life.state).toBe('Pending, c PodInitializing')
  expect(life.status.conditions?.[1]).toMatchObject({
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [first side second]',
  })
  expect(life.wake()).toBe(5000)
  expect(life.status.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})[0])).toEqual([
    'terminated',
    'running',
    'running',
  ])
  expect(life.wake()).toBe(3000)
  expect(life.state).toBe('Running, c running ready')
})

test('stepPod() waits for readiness gates', () => {
  const life = new Life({ spec: { readinessGates: [{ conditionType: 'example.com/lb' }] } })
  expect(life.status.conditions?.[2]).toMatchObject({
    type: 'Ready',
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: 'corresponding condition of pod readiness gate "example.com/lb" does not exist.',
  })
})

test('stepPod() returns the log lines of a container when it starts', () => {
  const life = new Life({ annotations: { 'kubewright.dev/log': 'one\ntwo' } })
  expect(life.news).toEqual([{ container: 'c', what: 'started', lines: ['one', 'two'] }])
})

test('stopsAt() and stoppedStatus() respect the grace period', () => {
  const slow: NodePlan = { default: { stopAfter: '45s' } }
  const going = pod({ deleted: true, ready: 5 })
  expect(stopsAt(going, {}, now)).toBe(now)
  expect(stopsAt(going, slow, now)).toBe(now + 30_000)
  expect(stoppedStatus(going, {}, now)).toMatchObject({ phase: 'Succeeded' })
  expect(stoppedStatus(going, slow, now)).toMatchObject({
    phase: 'Failed',
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  })
})

test('stopsAt() and stoppedStatus() count the sleep of a preStop hook', () => {
  const lifecycle = { preStop: { sleep: { seconds: 20 } } }
  const going = pod({ deleted: true, ready: 5, spec: { containers: [{ name: 'c', image: 'i', lifecycle }] } })
  expect(stopsAt(going, {}, now)).toBe(now + 20_000)
  expect(stopsAt(going, { default: { stopAfter: '5s' } }, now)).toBe(now + 25_000)
  expect(stoppedStatus(going, {}, now)).toMatchObject({ phase: 'Succeeded' })
  expect(stoppedStatus(going, { default: { stopAfter: '11s' } }, now)).toMatchObject({ phase: 'Failed' })
})

test('stepPod() runs ephemeral containers, which do not count for readiness', () => {
  const life = new Life({})
  life.pod = { ...life.pod, spec: { ...life.pod.spec, ephemeralContainers: [{ name: 'debugger', image: 'busybox' }] } }
  life.step()
  expect(life.state).toBe('Running, c running ready')
  expect(life.status.ephemeralContainerStatuses).toMatchObject([
    { name: 'debugger', image: 'busybox', ready: false, restartCount: 0, state: { running: {} } },
  ])
  const before = life.status
  expect(life.step().status).toEqual(before)
})

test('deadlineOf() counts from the start of the pod, and overdueStatus() fails it', () => {
  const life = new Life({ spec: { activeDeadlineSeconds: 5 } })
  expect(deadlineOf(life.pod, 0)).toBe(now + 5000)
  expect(deadlineOf(new Life({}).pod, 0)).toBeUndefined()
  const status = overdueStatus(life.pod, {}, now + 5000)
  expect(status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
    containerStatuses: [{ name: 'c', ready: false, state: { terminated: { exitCode: 0 } } }],
  })
  expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'PodFailed',
  })
})
