import { type AnyKind, type Draft, formatKey, type Infer, type TypeMeta, toNameAndNamespace } from '@kubewright/api'
import {
  type Duration,
  deepCopy,
  errorText,
  formatDuration,
  isKubewrightError,
  KubewrightError,
  type Logger,
  withDeadline,
} from '@kubewright/base'
import { type ApiClient, type Key, retryOnConflict } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { type Manager, metricsServerHandler, type Operator } from '@kubewright/runtime'
import type { Store } from '@kubewright/storage'
import type { Connect } from './connections.ts'
import { describeState, failureText } from './describe-state.ts'
import type { RunningOperator } from './operator-runs.ts'
import { pollError, untilItPasses, whileItPasses } from './poll.ts'
import { settle } from './settle.ts'
import { type StepResult, step } from './step.ts'
import type { EventuallyOptions, TestEnv, TestEnvOptions, TestSnapshot } from './test-env.ts'
import { type Sight, watchObject } from './watch-object.ts'
import type { World } from './world.ts'

/** The control plane of an environment: an embedded one, or a cluster. */
export interface Plane {
  readonly onCluster: boolean
  readonly controlPlane: () => ControlPlane
  /** The manager of the built-in controllers, if it runs in this process. */
  readonly manager: Manager | undefined
  readonly store: Pick<Store, 'revision'>
  readonly snapshot: () => TestSnapshot
  readonly advance: (by: Duration) => Promise<void>
}

interface EnvironmentParts {
  readonly operator: Operator | undefined
  readonly options: TestEnvOptions
  readonly plane: Plane
  readonly client: ApiClient
  readonly namespace: string
  readonly world: World
  /** Creates clients with the permissions of the operator; without one, with those of the administrator. */
  readonly connect: Connect
  readonly log: Logger
}

/** The environment that a test receives, from its running parts. */
export function environment(parts: EnvironmentParts): TestEnv {
  const { operator, options, plane, client, namespace, world, connect, log } = parts
  const { failure, time, disposer, faults } = world
  const running = (): RunningOperator | undefined => world.runs?.current
  const { signal } = failure
  const patience: Duration = options.timeout ?? (options.time === 'virtual' ? '1h' : '10s')
  const managers = (): Manager[] => [running()?.manager, plane.manager].filter((one) => one !== undefined)
  const explain = (kind: Parameters<TestEnv['gone']>[0], key: Parameters<TestEnv['gone']>[1]): Promise<string> =>
    describeState(
      client,
      managers().flatMap(({ runners }) => runners),
      kind,
      key,
      namespace,
    )
  const waitFor = async <T>(
    what: string,
    timeout: Duration,
    work: (signal: AbortSignal) => Promise<T>,
    more: () => Promise<string>,
  ): Promise<T> => {
    try {
      return await time.wait(withDeadline(time.clock, timeout, what, work, { signal }))
    } catch (error) {
      if (!(error instanceof KubewrightError && error.code === 'KW_DEADLINE_EXCEEDED')) throw failure.tell(error)
      const message = `Timed out after ${formatDuration(timeout)} waiting for ${what}.\n\n${await time.wait(more())}`
      throw new KubewrightError('KW_TEST_TIMEOUT', message, { cause: error })
    }
  }
  const named = (
    kind: { readonly kind: string; readonly scope: string },
    key: Parameters<TestEnv['gone']>[1],
  ): string => {
    const { name, namespace: given = namespace } = toNameAndNamespace(key)
    return `${kind.kind} ${formatKey(name, kind.scope === 'Namespaced' ? given : undefined)}`
  }
  const isVirtual = options.time === 'virtual'
  const poll = (limit: Duration, interval: Duration = isVirtual ? '1s' : '50ms') => ({ limit, interval, time, signal })
  const told = (error: unknown): never => {
    throw failure.tell(error)
  }
  const failures = (): string => failureText(managers().flatMap(({ runners }) => runners))
  const advance = async (by: Duration): Promise<void> => {
    await plane.advance(by)
    if (signal.aborted) throw failure.tell(signal.reason)
  }
  return {
    client,
    namespace,
    get controlPlane() {
      return plane.controlPlane()
    },
    onCluster: plane.onCluster,
    get manager() {
      return running()?.manager
    },
    clock: { now: () => time.clock.now(), advance },
    advance,
    async until(kind, key, when = () => true, { timeout = patience } = {}) {
      const isEnough = (sight: Sight<typeof kind>): boolean => sight !== undefined && when(sight)
      const what = `${named(kind, key)} to meet the condition`
      const work = (signal: AbortSignal) => watchObject(client, kind, key, isEnough, { namespace, signal })
      return waitFor(what, timeout, work, () => explain(kind, key))
    },
    async gone(kind, key, { timeout = patience } = {}) {
      const isEnough = (sight: unknown): boolean => sight === undefined
      const work = (signal: AbortSignal) => watchObject(client, kind, key, isEnough, { namespace, signal })
      await waitFor(`${named(kind, key)} to be deleted`, timeout, work, () => explain(kind, key))
    },
    async eventually<T>(check: () => T | Promise<T>, { timeout = patience, interval }: EventuallyOptions = {}) {
      const result = await untilItPasses(check, poll(timeout, interval)).catch(told)
      if ('value' in result) return result.value
      throw pollError('Timed out after %s waiting for the function to pass', timeout, result.error, failures())
    },
    async consistently(check, { for: limit = isVirtual ? '1m' : '1s', interval } = {}) {
      const failed = await whileItPasses(check, poll(limit, interval)).catch(told)
      if (failed === undefined) return
      throw pollError('The function did not pass for %s', limit, failed.error, failures())
    },
    update<K extends AnyKind>(kind: K, key: Key, change: (draft: Draft<K>) => unknown) {
      const write = async (): Promise<Infer<K>> => {
        const draft = deepCopy((await client.get(kind, key)) as object) as Draft<K>
        await change(draft)
        return (await client.update(draft as Readonly<TypeMeta>)) as Infer<K>
      }
      // The environment's clock: in virtual time, the pause between two attempts takes no real time.
      return time.wait(retryOnConflict(write, { clock: time.clock }))
    },
    async settled({ timeout = patience } = {}) {
      const { store } = plane
      const quietMillis = plane.onCluster ? 500 : options.transport === 'https' ? 100 : 0
      // In process and in virtual time, one turn runs everything. Otherwise a change may take a few turns for each of
      // watch, queue and reconcile.
      const quietTurns = options.time === 'virtual' && options.transport !== 'https' ? 1 : 40
      const work = (aborted: AbortSignal) =>
        settle({ managers: managers(), store, time, quietMillis, quietTurns }, aborted)
      // The error of settle() describes the remaining work.
      const done = time.wait(withDeadline(time.clock, timeout, 'the environment to settle', work, { signal }))
      await done.catch((error: unknown) => {
        const failed = failureText(managers().flatMap(({ runners }) => runners))
        if (failed !== '' && isKubewrightError(error, 'KW_TEST_NOT_SETTLED')) {
          throw new KubewrightError('KW_TEST_NOT_SETTLED', `${error.message}\n\n${failed}`, { cause: error })
        }
        throw failure.tell(error)
      })
    },
    async step(controller, key) {
      const own = connect('operator')
      const random = world.random.fork('step')
      const parts = { client: own, clock: time.clock, random, log, namespace, operator: operator?.name ?? 'test' }
      // The result has the status type of the controller.
      const done = step(controller, key, parts).finally(() => own[Symbol.asyncDispose]())
      return (await time.wait(done)) as StepResult<never>
    },
    fail: (fault) => faults.fail(fault),
    cutWatches: (kind) => faults.cutWatches({ kind }, 'operator'),
    async restart({ downtime } = {}) {
      if (world.runs === undefined) throw notRunning('restart()')
      await time.wait(world.runs.restart('stop', downtime))
    },
    crashAt(crash) {
      const { runs } = world
      if (runs === undefined) throw notRunning('crashAt()')
      let restart: (done: Promise<void>) => void
      const restarted = new Promise<void>((resolve) => (restart = resolve))
      // A failed restart fails the environment, even if the test does not wait for it.
      restarted.catch((cause: unknown) => {
        const message = `The operator did not start after its crash: ${errorText(cause)}`
        failure.happen(new KubewrightError('KW_TEST_OPERATOR_ENDED', message, { cause }))
      })
      const fault = faults.crashAt(crash, () => {
        restart(runs.restart('crash', crash.downtime))
      })
      return {
        get hits() {
          return fault.hits
        },
        get restarted() {
          return time.wait(restarted)
        },
        [Symbol.dispose]: () => fault[Symbol.dispose](),
      }
    },
    reconciles: () =>
      (running()?.manager.runners ?? []).flatMap((runner) => runner.recent()).sort((a, b) => b.startedAt - a.startedAt),
    metrics: () => running()?.metrics.text() ?? '',
    request: async (path) => {
      const operatorRun = running()
      if (operatorRun === undefined) throw notRunning('request()')
      const { pathname, searchParams } = new URL(path, 'http://localhost')
      const handler = metricsServerHandler(operatorRun.manager, operatorRun.metrics)
      const signal = new AbortController().signal
      const client = { method: 'GET', headers: {}, remoteAddress: '127.0.0.1' }
      return time.wait(Promise.resolve(handler({ ...client, path: pathname, query: searchParams, signal })))
    },
    health: async () => {
      const report = async (sort: 'healthz' | 'readyz') => (await running()?.health.report(sort)) ?? []
      const [live, ready] = await time.wait(Promise.all([report('healthz'), report('readyz')]))
      return { live, ready }
    },
    snapshot: () => plane.snapshot(),
    [Symbol.asyncDispose]: () => time.wait(disposer[Symbol.asyncDispose]()),
  }
}

const notRunning = (what: string): TypeError => new TypeError(`${what} needs an operator whose controllers run`)
