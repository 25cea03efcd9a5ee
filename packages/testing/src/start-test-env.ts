import { formatKey, toNameAndNamespace } from '@kubewright/api'
import {
  AsyncDisposer,
  type Duration,
  errorText,
  formatDuration,
  isKubewrightError,
  KubewrightError,
  type Logger,
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
  type Impersonation,
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
import { type Manager, metricsServerHandler, type Operator } from '@kubewright/runtime'
import type { Store } from '@kubewright/storage'
import {
  clusterConfig,
  clusterVariable,
  grantOnCluster,
  installOnCluster,
  ownNamespace,
  requireCluster,
  unreachableWebhooks,
  webhooksOnCluster,
} from './cluster-plane.ts'
import { describeState, failureText } from './describe-state.ts'
import { Faults, type Life } from './faults.ts'
import { installKinds } from './install-kinds.ts'
import { grantRights, tellingRefusals } from './operator-rights.ts'
import { OperatorRuns, type RunningOperator } from './operator-runs.ts'
import { serveOperatorWebhooks } from './operator-webhooks.ts'
import { RequestMeter } from './request-meter.ts'
import { settle } from './settle.ts'
import { type StepResult, step } from './step.ts'
import type { InterceptTransport, TestEnv, TestEnvOptions, TestSnapshot } from './test-env.ts'
import { testLogger } from './test-log.ts'
import { realTime, type TimeDriver, virtualTime } from './time-driver.ts'
import { type Sight, watchObject } from './watch-object.ts'

/**
 * Starts a new control plane, installs the kinds that the operator defines, and runs the operator on it. Environments
 * are independent: any number can run in one process at the same time. Without an operator only the control plane runs.
 *
 * With the environment variable KUBEWRIGHT_TEST_CLUSTER (a kubeconfig file or a context) the environment uses that cluster instead
 * of a control plane of its own, in a new namespace and in real time.
 */
export function startTestEnv(operator?: Operator, options: TestEnvOptions = {}): Promise<TestEnv> {
  const cluster = process.env[clusterVariable]
  if (cluster !== undefined && cluster !== '') return startOnCluster(operator, options, cluster)
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
  readonly faults: Faults
  runs: OperatorRuns | undefined
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
    this.faults = new Faults(this.time.clock)
  }

  #isUserCodeRunning(): boolean {
    if (this.webhooksRunning > 0) return true
    return this.runs?.current?.manager.runners.some((runner) => runner.queue().processing.length > 0) ?? false
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
  const { transport = 'in-process', namespace = 'default', controllers, nodes } = options
  const { time, failure, disposer, meter, faults } = world
  const { clock } = time
  const log = testLogger(options.log)
  const wrap: Wrap = (direct, sender) => {
    const intercepted = options.intercept?.(direct, sender, clock) ?? direct
    // Only the test decides about its own requests.
    const metered =
      meter === undefined || sender === 'test' ? intercepted : meter.wrap(intercepted, senderNames[sender])
    // Each run of the operator has a wrapper of its own.
    return sender === 'operator' ? metered : faults.wrap(metered, sender)
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
  let connect = connector(open, { impersonate: undefined, namespace }, world)
  if (operator !== undefined) {
    disposer.defer(() => failure.throwUntold())
    const impersonate = options.rights === 'all' ? undefined : await grantRights(operator, controlPlane, client)
    connect = connector(open, { impersonate, namespace }, world)
    const hasWebhooks = operator.webhooks.length > 0 || operator.conversions.length > 0
    if (hasWebhooks && options.webhooks !== false) {
      const hooks = {
        controlPlane,
        admin: client,
        client: disposer.use(connect('webhooks')),
        transport,
        clock,
        log,
        running: (change: 1 | -1) => void (world.webhooksRunning += change),
      }
      disposer.use(await serveOperatorWebhooks(operator, hooks))
    }
    if (options.manager !== false) await runOperator(operator, connect, { ...options, log, namespace }, world)
  }
  return environment({
    operator,
    options,
    plane: embedded(controlPlane, operator, options, time),
    client,
    namespace,
    world,
    connect,
    log,
  })
}

/** Creates the clients of the operator: with its permissions, and reporting those that it lacks. */
type Connect = (sender: 'operator' | 'webhooks', life?: Life) => ApiClient

function connector(
  open: Open,
  { impersonate, namespace }: { readonly impersonate: Impersonation | undefined; readonly namespace: string },
  { failure, faults, time: { clock } }: World,
): Connect {
  return (sender, life) => {
    const way = open(sender)
    const faulty = sender === 'operator' ? faults.wrap(way.transport, sender, life) : way.transport
    const transport = tellingRefusals(faulty, (refusal) => failure.happen(refusal))
    return createClient({ ...way, transport, impersonate, clock, namespace })
  }
}

async function runOperator(
  operator: Operator,
  connect: Connect,
  options: { readonly log: Logger; readonly namespace: string; readonly leaderElection?: boolean | undefined },
  world: World,
): Promise<void> {
  const { time, random, failure, disposer } = world
  const { log, namespace, leaderElection = false } = options
  world.runs = disposer.use(
    new OperatorRuns({
      operator,
      connect: (life) => connect('operator', life),
      time,
      random,
      log,
      namespace,
      leaderElection,
      failed: (error) => failure.happen(error),
    }),
  )
  await world.runs.start()
}

/** The control plane of an environment: an embedded one, or a cluster. */
interface Plane {
  readonly onCluster: boolean
  readonly controlPlane: () => ControlPlane
  /** The manager of the built-in controllers, if it runs in this process. */
  readonly manager: Manager | undefined
  readonly store: Pick<Store, 'revision'>
  readonly snapshot: () => TestSnapshot
  readonly advance: (by: Duration) => Promise<void>
}

function embedded(
  controlPlane: ControlPlane,
  operator: Operator | undefined,
  options: TestEnvOptions,
  time: TimeDriver,
): Plane {
  return {
    onCluster: false,
    controlPlane: () => controlPlane,
    manager: controlPlane.controllers.manager,
    store: controlPlane.server.parts.registry.store,
    snapshot: () => snapshotOf(operator, options, controlPlane, time),
    advance: (by) => time.advance(by),
  }
}

async function startOnCluster(operator: Operator | undefined, given: TestEnvOptions, wanted: string): Promise<TestEnv> {
  // Virtual time ends at the border of this process.
  const options: TestEnvOptions = { ...given, time: 'real', timeout: given.timeout ?? '1m' }
  const world = new World(options, undefined)
  try {
    return await assembleOnCluster(operator, options, wanted, world)
  } catch (error) {
    await world.disposer[Symbol.asyncDispose]()
    throw error
  }
}

async function assembleOnCluster(
  given: Operator | undefined,
  options: TestEnvOptions,
  wanted: string,
  world: World,
): Promise<TestEnv> {
  const { time, disposer, faults, failure } = world
  const { clock } = time
  const log = testLogger(options.log)
  const config = await clusterConfig(wanted)
  const open: Open = (sender) => {
    const direct = transportFor(config, { clock })
    const intercepted = options.intercept?.(direct, sender, clock) ?? direct
    const transport = sender === 'operator' ? intercepted : faults.wrap(intercepted, sender)
    return { transport, credentials: config.credentials }
  }
  const admin = disposer.use(createClient({ ...open('test'), clock, namespace: 'default' }))
  await requireCluster(admin, config.server)
  const hasWebhooks = given !== undefined && given.webhooks.length + given.conversions.length > 0
  const unreachable = hasWebhooks && options.webhooks !== false ? unreachableWebhooks(config.server) : undefined
  if (unreachable !== undefined) skipOnCluster(options, unreachable)
  // Disposed last, after the operator has stopped.
  if (given !== undefined) disposer.defer(() => failure.throwUntold())
  const prefix = options.namespace ?? given?.name ?? 'test'
  await installOnCluster(admin, given, options.install ?? [])
  const own = await ownNamespace(admin, prefix, clock)
  const namespace = own.name
  const client = disposer.use(createClient({ ...open('test'), clock, namespace }))
  let connect = connector(open, { impersonate: undefined, namespace }, world)
  // The operator cleans up the objects of the namespace, so it runs until the namespace is deleted.
  let operator = given
  try {
    if (given !== undefined) {
      operator = { ...given, namespaces: given.namespaces.length === 0 ? [namespace] : given.namespaces }
      const suffix = namespace.slice(-8)
      const impersonate =
        options.rights === 'all' ? config.impersonate : await grantOnCluster(given, admin, suffix, clock, disposer)
      connect = connector(open, { impersonate, namespace }, world)
      if (hasWebhooks && options.webhooks !== false) {
        const hooks = { admin, client: disposer.use(connect('webhooks')), server: config.server, namespace, clock, log }
        await webhooksOnCluster(given, disposer, hooks)
      }
      if (options.manager !== false) await runOperator(operator, connect, { ...options, log, namespace }, world)
    }
  } finally {
    disposer.use(own)
  }
  const refuse = (what: string): never => skipOnCluster(options, `${what} needs the embedded control plane`)
  // Not a getter that throws: a test may spread the environment.
  const absent = new Proxy({} as ControlPlane, { get: () => refuse("'controlPlane'") })
  const plane: Plane = {
    onCluster: true,
    controlPlane: () => absent,
    manager: undefined,
    store: { revision: () => Promise.resolve(0) as never },
    snapshot: () => refuse('snapshot()'),
    advance: async () => refuse('advance() and virtual time'),
  }
  return environment({ operator, options, plane, client, namespace, world, connect, log })
}

/** Skips the test, or fails it with a recognisable error. */
function skipOnCluster({ skip }: TestEnvOptions, reason: string): never {
  skip?.(`on a cluster: ${reason}`)
  throw new KubewrightError('KW_TEST_ON_CLUSTER', `Cannot run on the cluster of ${clusterVariable}: ${reason}`)
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

function environment(parts: EnvironmentParts): TestEnv {
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

const notRunning = (what: string): TypeError => new TypeError(`${what} needs an operator whose controllers run`)
