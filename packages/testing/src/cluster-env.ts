import { KubewrightError } from '@kubewright/base'
import { createClient, transportFor } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import type { Operator } from '@kubewright/runtime'
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
import { connector, type Open } from './connections.ts'
import { environment, type Plane } from './environment.ts'
import { runOperator } from './run-operator.ts'
import type { TestEnv, TestEnvOptions } from './test-env.ts'
import { testLogger } from './test-log.ts'
import { World } from './world.ts'

/** Starts an environment on an existing cluster, in a namespace of its own and in real time. */
export async function startOnCluster(
  operator: Operator | undefined,
  given: TestEnvOptions,
  wanted: string,
): Promise<TestEnv> {
  // Virtual time ends at the border of this process.
  const options: TestEnvOptions = { ...given, time: 'real', timeout: given.timeout ?? '1m' }
  if (given.start !== undefined) skipOnCluster(options, "'start' needs virtual time")
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
  let admission: AsyncDisposable | undefined
  try {
    if (given !== undefined) {
      operator = { ...given, namespaces: given.namespaces.length === 0 ? [namespace] : given.namespaces }
      const suffix = namespace.slice(-8)
      const impersonate =
        options.rights === 'all' ? config.impersonate : await grantOnCluster(given, admin, suffix, clock, disposer)
      connect = connector(open, { impersonate, namespace }, world)
      if (hasWebhooks && options.webhooks !== false) {
        const hooks = { admin, client: disposer.use(connect('webhooks')), server: config.server, namespace, clock, log }
        admission = await webhooksOnCluster(given, disposer, hooks)
      }
      if (options.manager !== false) await runOperator(operator, connect, { ...options, log, namespace }, world)
    }
  } finally {
    disposer.use(own)
    // Disposed before the namespace.
    disposer.use(admission)
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
