import { formatKey, toNameAndNamespace } from '@kubewright/api'
import {
  AsyncDisposer,
  type Duration,
  errorText,
  formatDuration,
  KubewrightError,
  nullLogger,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
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
import {
  type ControlPlane,
  type ControlPlaneOptions,
  type ControlPlaneSnapshot,
  controllerNames,
  startControlPlane,
} from '@kubewright/controlplane'
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
import { RequestMeter } from './request-meter.ts'
import { settle } from './settle.ts'
import type { InterceptTransport, TestEnv, TestEnvOptions, TestSnapshot } from './test-env.ts'
import { realTime, type TimeDriver, virtualTime } from './time-driver.ts'
import { type Sight, watchObject } from './watch-object.ts'

/**
 * Starts a new control plane, installs the kinds that the operator defines, and runs the operator on it. Environments
 * are independent: any number can run in one process at the same time. Without an operator only the control plane runs.
 */
export function startTestEnv(operator?: Operator, options: TestEnvOptions = {}): Promise<TestEnv> {
  return startFrom(operator, options, undefined)
}

/** The state that an environment starts from. */
interface Origin {
  readonly plane: ControlPlaneSnapshot
  readonly now: number
  /** Distinguishes the environments of one snapshot: they must not generate the same uids for different objects. */
  readonly branch: string
}

async function startFrom(
  operator: Operator | undefined,
  options: TestEnvOptions,
  origin: Origin | undefined,
): Promise<TestEnv> {
  const { controllers = 'all', nodes = 1 } = options
  // Loads their code before time can pass.
  if (controllers !== 'none' || nodes !== 0) await controllerNames()
  const world = new World(options, origin)
  const { time, disposer } = world
  try {
    return await time.wait(assemble(operator, options, origin?.plane, world))
  } catch (error) {
    await time.wait(disposer[Symbol.asyncDispose]())
    throw error
  }
}

/** Time, randomness and failures of one environment: everything that its parts share. */
class World {
  readonly time: TimeDriver
  readonly random: Random
  readonly failure = new Failure()
  readonly disposer = new AsyncDisposer()
  /** Counts the requests of controllers; undefined in real time, where deadlines end hot loops. */
  readonly meter: RequestMeter | undefined
  running: RunningOperator | undefined
  webhooksRunning = 0
  requestsInFlight = 0

  constructor(options: TestEnvOptions, origin: Origin | undefined) {
    const isVirtual = options.time === 'virtual'
    this.time = isVirtual
      ? virtualTime({
          start: origin?.now ?? startOf(options),
          isUserCodeRunning: () => this.#isUserCodeRunning(),
          onTurn: () => this.meter?.reset(),
          requestsInFlight: options.transport === 'https' ? () => this.requestsInFlight : undefined,
        })
      : realTime(systemClock)
    const random =
      options.random ?? (isVirtual || options.seed !== undefined ? seededRandom(options.seed ?? 1) : systemRandom)
    this.random = origin === undefined ? random : random.fork(origin.branch)
    if (isVirtual) this.meter = new RequestMeter((error) => this.failure.happen(error))
  }

  #isUserCodeRunning(): boolean {
    if (this.webhooksRunning > 0) return true
    return this.running?.manager.runners.some((runner) => runner.queue().processing.length > 0) ?? false
  }
}

function startOf({ start }: TestEnvOptions): number | undefined {
  if (start === undefined) return undefined
  const millis = new Date(start).getTime()
  if (Number.isNaN(millis)) {
    throw new TypeError(`start must be a date such as '2026-01-01T00:00:00Z': ${JSON.stringify(start)}`)
  }
  return millis
}

async function assemble(
  operator: Operator | undefined,
  options: TestEnvOptions,
  snapshot: ControlPlaneSnapshot | undefined,
  world: World,
): Promise<TestEnv> {
  const { transport = 'in-process', namespace = 'default', log = nullLogger, controllers, nodes } = options
  const { time, failure, disposer, meter } = world
  const { clock } = time
  const wrap: Wrap = (direct, sender) => {
    const intercepted = options.intercept?.(direct, sender, clock) ?? direct
    // Only the test decides about its own requests.
    return meter === undefined || sender === 'test' ? intercepted : meter.wrap(intercepted, senderNames[sender])
  }
  const planeOptions: ControlPlaneOptions = {
    clock,
    random: world.random.fork('control plane'),
    log: log.withName('control-plane'),
    controllers,
    nodes,
    intercept: (direct, { name }) => (name === controllerManagerUser ? wrap(direct, 'controllers') : direct),
  }
  const controlPlane = disposer.use(
    snapshot ? await snapshot.start(planeOptions) : await startControlPlane(planeOptions),
  )
  const open = await opener(controlPlane, transport, world, wrap)
  const client = disposer.use(createClient({ ...open('test'), clock, namespace }))
  if (namespace !== 'default' && (await client.find(Namespace, namespace)) === undefined) {
    await client.create(Namespace({ metadata: { name: namespace } }))
  }
  await installKinds(client, operator, options.install)
  if (operator !== undefined) {
    disposer.defer(() => failure.throwUntold())
    const impersonate = options.rights === 'all' ? undefined : await grantRights(operator, controlPlane, client)
    const connect = (sender: 'operator' | 'webhooks'): ApiClient => {
      const way = open(sender)
      const told = tellingRefusals(way.transport, (refusal) => failure.happen(refusal))
      return disposer.use(createClient({ ...way, transport: told, impersonate, clock, namespace }))
    }
    const hasWebhooks = operator.webhooks.length > 0 || operator.conversions.length > 0
    if (hasWebhooks && options.webhooks !== false) {
      const hooks = {
        controlPlane,
        admin: client,
        client: connect('webhooks'),
        transport,
        clock,
        log,
        running: (change: 1 | -1) => void (world.webhooksRunning += change),
      }
      disposer.use(await serveOperatorWebhooks(operator, hooks))
    }
    world.running = await startManager(operator, connect('operator'), options, world)
  }
  return environment({ operator, options, controlPlane, client, namespace, world })
}

/** A permanent failure of the environment. It is reported by the next wait, or else when the environment is disposed. */
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

const controllerManagerUser = 'system:kube-controller-manager'

type Sender = Parameters<InterceptTransport>[1]
type Wrap = (direct: Transport, sender: Sender) => Transport

const senderNames = {
  operator: 'the operator',
  webhooks: 'a webhook of the operator',
  controllers: 'a built-in controller',
} as const

/** Opens a connection to the API server as its administrator. */
type Open = (sender: Sender) => { readonly transport: Transport; readonly credentials?: Credentials | undefined }

async function opener(
  controlPlane: ControlPlane,
  transport: 'in-process' | 'https',
  world: World,
  wrap: Wrap,
): Promise<Open> {
  if (transport === 'in-process') return (sender) => ({ transport: wrap(controlPlane.transport(), sender) })
  const { kubeconfig } = await controlPlane.listen()
  const { clock } = controlPlane
  const config = resolveContext(parseKubeconfig(kubeconfig, 'the control plane'), {}, { host: systemConfigHost, clock })
  return (sender) => ({
    transport: wrap(countingRequests(transportFor(config, { clock }), world), sender),
    credentials: config.credentials,
  })
}

/** Wraps a transport to count the requests that have no response yet. */
function countingRequests(transport: Transport, world: World): Transport {
  const { upgrade } = transport
  return {
    host: transport.host,
    async send(request) {
      world.requestsInFlight++
      try {
        return await transport.send(request)
      } finally {
        world.requestsInFlight--
      }
    },
    ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

async function startManager(
  operator: Operator,
  client: ApiClient,
  { log = nullLogger, namespace = 'default', leaderElection = false }: TestEnvOptions,
  { time: { clock }, random, failure, disposer }: World,
): Promise<RunningOperator> {
  // As the only replica it leads without a lease by default: a stalled test on a busy machine would lose the lease.
  const metrics = createMetricRegistry(managerMetrics)
  const health = createHealthChecks({ clock })
  const manager = createManager({
    operator,
    client,
    clock,
    random: random.fork('operator'),
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
  return { manager, metrics, health }
}

interface RunningOperator {
  readonly manager: Manager
  readonly metrics: MetricRegistry
  readonly health: ServedHealthChecks
}

interface EnvironmentParts {
  readonly operator: Operator | undefined
  readonly options: TestEnvOptions
  readonly controlPlane: ControlPlane
  readonly client: ApiClient
  readonly namespace: string
  readonly world: World
}

function environment(parts: EnvironmentParts): TestEnv {
  const { operator, options, controlPlane, client, namespace, world } = parts
  const { running, failure, time, disposer } = world
  const manager = running?.manager
  const { signal } = failure
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
  const advance = async (by: Duration): Promise<void> => {
    await time.advance(by)
    if (signal.aborted) throw failure.tell(signal.reason)
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
      // In process and in virtual time, one turn runs everything. Otherwise a change may take a few turns for each of
      // watch, queue and reconcile.
      const quietTurns = options.time === 'virtual' && options.transport !== 'https' ? 1 : 40
      const work = (aborted: AbortSignal) => settle({ managers, store, time, quietMillis, quietTurns }, aborted)
      // The error of settle() describes the remaining work.
      const done = time.wait(withDeadline(time.clock, timeout, 'the environment to settle', work, { signal }))
      await done.catch((error: unknown) => {
        throw failure.tell(error)
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
  let branches = 0
  return {
    start: () => startFrom(operator, options, { plane, now, branch: `branch ${++branches}` }),
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  }
}
