import { createClient } from '@kubewright/client'
import {
  type ControlPlane,
  type ControlPlaneSnapshot,
  controllerNames,
  type PlaneConfig,
  startControlPlane,
} from '@kubewright/controlplane'
import { Namespace } from '@kubewright/k8s'
import type { Operator } from '@kubewright/runtime'
import { connector, opener, senderNames, type Wrap } from './connections.ts'
import { environment, type Plane } from './environment.ts'
import { installKinds } from './install-kinds.ts'
import { grantRights } from './operator-rights.ts'
import { serveOperatorWebhooks } from './operator-webhooks.ts'
import { runOperator } from './run-operator.ts'
import { startInTurn } from './start-queue.ts'
import type { TestEnv, TestEnvOptions, TestSnapshot } from './test-env.ts'
import { testLogger } from './test-log.ts'
import type { TimeDriver } from './time-driver.ts'
import { type Origin, World } from './world.ts'

/** Names the release of Kubernetes that environments serve, for all tests of a run. */
const releaseVariable = 'KUBEWRIGHT_KUBERNETES'

/** Starts an environment with a control plane in this process, empty or from a snapshot. */
export async function startFrom(
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
    return await startInTurn(() => time.wait(assemble(operator, options, origin?.plane, world)))
  } catch (error) {
    await time.wait(disposer[Symbol.asyncDispose]())
    throw error
  }
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
  const config: PlaneConfig = {
    clock,
    random: world.random.fork('control plane'),
    log: log.withName('control-plane'),
    kubernetes: options.kubernetes ?? (process.env[releaseVariable] || undefined),
    controllers,
    nodes,
    // On in several distributions: a missing permission must fail a test, not a customer's cluster.
    admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
    intercept: (direct, { name }) => (name === controllerManagerUser ? wrap(direct, 'controllers') : direct),
  }
  const controlPlane = disposer.use(snapshot ? await snapshot.start(config) : await startControlPlane(config))
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

const controllerManagerUser = 'system:kube-controller-manager'
