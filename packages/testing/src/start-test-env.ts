import { formatKey, toNameAndNamespace } from '@kubewright/api'
import {
  AsyncDisposer,
  type Duration,
  errorText,
  formatDuration,
  KubewrightError,
  nullLogger,
  systemClock,
  VirtualClock,
  withDeadline,
} from '@kubewright/base'
import {
  type ApiClient,
  type Credentials,
  createClient,
  parseKubeconfig,
  resolveContext,
  systemConfigHost,
  type Transport,
  transportFor,
} from '@kubewright/client'
import { type ControlPlane, type ControlPlaneSnapshot, startControlPlane } from '@kubewright/controlplane'
import { Namespace } from '@kubewright/k8s'
import {
  createHealthChecks,
  createManager,
  createMetricRegistry,
  type Manager,
  type MetricRegistry,
  managerMetrics,
  type Operator,
  type ServedHealthChecks,
} from '@kubewright/runtime'
import { describeState } from './describe-state.ts'
import { installKinds } from './install-kinds.ts'
import { grantRights, tellingRefusals } from './operator-rights.ts'
import { serveOperatorWebhooks } from './operator-webhooks.ts'
import { settle } from './settle.ts'
import type { TestEnv, TestEnvOptions, TestSnapshot } from './test-env.ts'
import { realTime, type TimeDriver, virtualTime } from './time-driver.ts'
import { type Sight, watchObject } from './watch-object.ts'

/**
 * Starts a new control plane, installs the kinds that the operator defines, and runs the operator on it. Environments
 * are independent: any number can run in one process at the same time. Without an operator only the control plane runs.
 */
export function startTestEnv(operator?: Operator, options: TestEnvOptions = {}): Promise<TestEnv> {
  return startFrom(operator, options, undefined)
}

async function startFrom(
  operator: Operator | undefined,
  options: TestEnvOptions,
  snapshot: { readonly plane: ControlPlaneSnapshot; readonly now: number } | undefined,
): Promise<TestEnv> {
  const start = snapshot === undefined ? {} : { start: snapshot.now }
  const time = options.time === 'virtual' ? virtualTime(new VirtualClock(start)) : realTime(systemClock)
  const disposer = new AsyncDisposer()
  try {
    return await time.wait(assemble(operator, options, snapshot?.plane, time, disposer))
  } catch (error) {
    await time.wait(disposer[Symbol.asyncDispose]())
    throw error
  }
}

async function assemble(
  operator: Operator | undefined,
  options: TestEnvOptions,
  snapshot: ControlPlaneSnapshot | undefined,
  time: TimeDriver,
  disposer: AsyncDisposer,
): Promise<TestEnv> {
  const { transport = 'in-process', namespace = 'default', log = nullLogger, controllers, nodes } = options
  const { clock } = time
  const planeOptions = { clock, log: log.withName('control-plane'), controllers, nodes }
  const controlPlane = disposer.use(
    snapshot ? await snapshot.start(planeOptions) : await startControlPlane(planeOptions),
  )
  const open = await opener(controlPlane, transport)
  const client = disposer.use(createClient({ ...open(), clock, namespace }))
  if (namespace !== 'default' && (await client.find(Namespace, namespace)) === undefined) {
    await client.create(Namespace({ metadata: { name: namespace } }))
  }
  await installKinds(client, operator, options.install)
  let running: RunningOperator | undefined
  if (operator !== undefined) {
    const failure = new Failure()
    disposer.defer(() => failure.throwUntold())
    const impersonate = options.rights === 'all' ? undefined : await grantRights(operator, controlPlane, client)
    const connect = (): ApiClient => {
      const way = open()
      const told = tellingRefusals(way.transport, (refusal) => failure.happen(refusal))
      return disposer.use(createClient({ ...way, transport: told, impersonate, clock, namespace }))
    }
    const hasWebhooks = operator.webhooks.length > 0 || operator.conversions.length > 0
    if (hasWebhooks && options.webhooks !== false) {
      const hooks = { controlPlane, admin: client, client: connect(), transport, clock, log }
      disposer.use(await serveOperatorWebhooks(operator, hooks))
    }
    running = await startManager(operator, connect(), failure, options, time, disposer)
  }
  return environment({ operator, options, controlPlane, client, namespace, running, time, disposer })
}

/** A permanent failure of the operator. It is reported by the next wait, or else when the environment is disposed. */
class Failure {
  readonly #happened = new AbortController()
  #isTold = false

  get signal(): AbortSignal {
    return this.#happened.signal
  }

  happen(error: KubewrightError): void {
    this.#happened.abort(error)
  }

  /** Marks the failure as reported if `error` is that failure. Returns `error`, for a wait to throw. */
  tell(error: unknown): unknown {
    this.#isTold ||= error === this.signal.reason
    return error
  }

  throwUntold(): void {
    const { aborted, reason } = this.signal
    // An operator that ended rejects the disposal itself.
    if (aborted && !this.#isTold && reason.code === 'KW_TEST_MISSING_RIGHT') throw reason
  }
}

/** Opens a connection to the API server as its administrator. */
type Open = () => { readonly transport: Transport; readonly credentials?: Credentials | undefined }

async function opener(controlPlane: ControlPlane, transport: 'in-process' | 'https'): Promise<Open> {
  if (transport === 'in-process') return () => ({ transport: controlPlane.transport() })
  const { kubeconfig } = await controlPlane.listen()
  const { clock } = controlPlane
  const config = resolveContext(parseKubeconfig(kubeconfig, 'the control plane'), {}, { host: systemConfigHost, clock })
  return () => ({ transport: transportFor(config, { clock }), credentials: config.credentials })
}

async function startManager(
  operator: Operator,
  client: ApiClient,
  failure: Failure,
  { log = nullLogger, namespace = 'default', leaderElection = false }: TestEnvOptions,
  { clock }: TimeDriver,
  disposer: AsyncDisposer,
): Promise<RunningOperator> {
  // As the only replica it leads without a lease by default: a stalled test on a busy machine would lose the lease.
  const metrics = createMetricRegistry(managerMetrics)
  const health = createHealthChecks({ clock })
  const manager = createManager({
    operator,
    client,
    clock,
    log,
    metrics,
    health,
    namespace,
    leaderElection: leaderElection && operator.leaderElection,
  })
  const stop = new AbortController()
  const running = manager.start({ signal: stop.signal })
  running.catch((cause: unknown) => {
    const why = errorText(cause)
    const message = `The operator has ended, so the wait cannot succeed: ${why}`
    failure.happen(new KubewrightError('KW_TEST_OPERATOR_ENDED', message, { cause }))
  })
  disposer.defer(async () => {
    stop.abort(new Error('The test environment was disposed'))
    await running
  })
  await Promise.race([manager.elected, running])
  return { manager, metrics, health, failure }
}

interface RunningOperator {
  readonly manager: Manager
  readonly metrics: MetricRegistry
  readonly health: ServedHealthChecks
  readonly failure: Failure
}

interface EnvironmentParts {
  readonly operator: Operator | undefined
  readonly options: TestEnvOptions
  readonly controlPlane: ControlPlane
  readonly client: ApiClient
  readonly namespace: string
  readonly running: RunningOperator | undefined
  readonly time: TimeDriver
  readonly disposer: AsyncDisposer
}

function environment(parts: EnvironmentParts): TestEnv {
  const { operator, options, controlPlane, client, namespace, running, time, disposer } = parts
  const { manager, failure } = running ?? {}
  const signal = failure?.signal
  const patience: Duration = options.timeout ?? (options.time === 'virtual' ? '1h' : '10s')
  const managers = [manager, controlPlane.controllers.manager].filter((one) => one !== undefined)
  const explain = (kind: Parameters<TestEnv['gone']>[0], key: Parameters<TestEnv['gone']>[1]): Promise<string> =>
    describeState(
      client,
      managers.flatMap(({ runners }) => runners),
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
      if (!(error instanceof KubewrightError && error.code === 'KW_DEADLINE_EXCEEDED'))
        throw failure?.tell(error) ?? error
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
  const advance = async (by: Duration): Promise<void> => {
    await time.advance(by)
    if (signal?.aborted) throw failure?.tell(signal.reason)
  }
  return {
    client,
    namespace,
    controlPlane,
    manager,
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
    async settled({ timeout = patience } = {}) {
      const { store } = controlPlane.server.parts.registry
      const quietMillis = options.transport === 'https' ? 100 : 0
      const work = (aborted: AbortSignal) => settle({ managers, store, time, quietMillis }, aborted)
      // The error of settle() describes the remaining work.
      const done = time.wait(withDeadline(time.clock, timeout, 'the environment to settle', work, { signal }))
      await done.catch((error: unknown) => {
        throw failure?.tell(error) ?? error
      })
    },
    reconciles: () =>
      (manager?.runners ?? []).flatMap((runner) => runner.recent()).sort((a, b) => b.startedAt - a.startedAt),
    metrics: () => running?.metrics.text() ?? '',
    health: async () => {
      const report = async (sort: 'healthz' | 'readyz') => (await running?.health.report(sort)) ?? []
      const [live, ready] = await time.wait(Promise.all([report('healthz'), report('readyz')]))
      return { live, ready }
    },
    snapshot: () => snapshotOf(operator, options, controlPlane, time),
    [Symbol.asyncDispose]: () => time.wait(disposer[Symbol.asyncDispose]()),
  }
}

function snapshotOf(
  operator: Operator | undefined,
  options: TestEnvOptions,
  controlPlane: ControlPlane,
  { clock }: TimeDriver,
): TestSnapshot {
  const plane = controlPlane.snapshot()
  const now = clock.now()
  return {
    start: () => startFrom(operator, options, { plane, now }),
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  }
}
