import type { AnyKind, Infer } from '@kubewright/api'
import { type Clock, Deferred, seededRandom, systemClock, withDeadline } from '@kubewright/base'
import { type ApiClient, createClient, type Key } from '@kubewright/client'
import { type ControlPlane, type NodesOptions, startControlPlane } from '@kubewright/controlplane'
import { ClusterRole, CustomResourceDefinition, Namespace, Role } from '@kubewright/k8s'
import { Event } from '@kubewright/k8s/events/v1'
import {
  memoryHttpListener,
  needsWebhooks,
  type Operator,
  type PolicyRule,
  type RunHost,
  runWith,
  type StopSignal,
} from '@kubewright/runtime'
import { expect } from 'vitest'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { type DescribeOptions, describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { watchObject } from '../../packages/testing/src/watch-object.ts'
import { roughTransport } from './rough-transport.ts'

/** A cluster with an installed operator that does not run. Any number of runs can start from it. */
export interface InstalledOperator extends AsyncDisposable {
  /** Runs the operator on a copy of the cluster. */
  run(options?: RunOptions): Promise<DeployedOperator>
}

/** The options of a run. */
export interface RunOptions {
  /** A new instance of the installed operator, for operators with state. @default the installed one */
  readonly operator?: Operator | undefined
  readonly nodes?: NodesOptions | undefined
  /** Roles that replace those of the operator. */
  readonly roles?: readonly GrantedRole[] | undefined
  /** Whether the server lacks streaming lists and the network loses responses. @default false */
  readonly isRough?: boolean | undefined
}

/** An operator that runs on an embedded cluster like its Deployment: with the account, the roles and the flags of its manifests. */
export interface DeployedOperator extends AsyncDisposable {
  readonly client: ApiClient
  /** Resolves when its webhook server is ready; at once without webhooks. */
  readonly ready: Promise<void>
  /** The messages of forbidden requests. */
  readonly refused: ReadonlyMap<string, string>
  /** Resolves to the message of the first forbidden request. All waits of the scenario reject from then on. */
  readonly firstRefusal: Promise<string>
  until<K extends AnyKind>(kind: K, key: Key, when?: (object: Infer<K>) => boolean): Promise<Infer<K>>
  gone(kind: AnyKind, key: Key): Promise<void>
  /**
   * Waits until an Event with this reason, and about this object if given, occurs again. Resolves to whether a write of
   * the repeated Event was observed: under load, both occurrences may be aggregated before the first write.
   */
  repeated(reason: string, namespace: string, uid?: string): Promise<boolean>
  /** Requests metrics with a token. */
  metrics(token: string): Promise<number>
  /** Advances the wall clock of the operator, as after a suspend of the machine. */
  skip(milliseconds: number): void
  /** Stops the program like Kubernetes does. */
  stop(): Promise<void>
}

/** A role of the operator. */
export interface GrantedRole extends Manifest {
  readonly rules: readonly PolicyRule[]
}

/** The prefix of the names of objects that cannot be reconciled. */
export const blockedName = 'taken'

/** The bearer token of a user without permissions. */
export const scraperToken = 'scraper'

/** The deadline of every wait: only an event that never happens reaches it. */
const patience = '60s'

/** The options of an installation. */
export interface InstallOptions extends DescribeOptions {
  readonly nodes?: NodesOptions | undefined
}

/** The roles that the manifests grant to the operator, without those for users. */
export function rolesOf(operator: Operator, options: InstallOptions = {}): GrantedRole[] {
  const installed = installObjects(describeOperator(operator, options))
  const bound = installed.flatMap(({ kind, roleRef }) =>
    kind.endsWith('RoleBinding') ? [(roleRef as { name: string }).name] : [],
  )
  return installed.filter(({ kind, metadata }) => /Role$/.test(kind) && bound.includes(metadata.name)) as GrantedRole[]
}

/** Installs an operator from its manifests, on a server with OwnerReferencesPermissionEnforcement. */
export async function installOperator(operator: Operator, options: InstallOptions = {}): Promise<InstalledOperator> {
  const user = { name: 'scraper', groups: ['system:authenticated'] }
  await using plane = await startControlPlane({
    access: { tokens: [{ token: scraperToken, user }] },
    nodes: options.nodes,
    admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
  })
  const client = plane.client()
  const installed = installObjects(describeOperator(operator, options))
  for (const name of elsewhere(installed)) await client.apply(Namespace({ metadata: { name } }))
  for (const object of installed) {
    // Skip the Deployment: the program runs in this process.
    if (object.kind !== 'Deployment') await client.apply(object as never, { force: true })
  }
  for (const { metadata } of installed.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
    const isEstablished = (crd: CustomResourceDefinition | undefined): boolean =>
      (crd?.status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True')
    const signal = AbortSignal.timeout(60_000)
    await watchObject(client, CustomResourceDefinition, metadata.name, isEstablished, { namespace: '', signal })
  }
  const snapshot = plane.snapshot()
  return {
    async run(run = {}) {
      return start(await snapshot.start({ nodes: run.nodes ?? options.nodes }), installed, {
        ...run,
        operator: run.operator ?? operator,
        watched: options.namespaced,
      })
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  }
}

/** Namespaces in which the operator has permissions and that it does not create. */
function elsewhere(installed: readonly Manifest[]): Set<string> {
  const named = installed.flatMap(({ metadata }) => metadata.namespace ?? [])
  const own = installed.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name)
  return new Set(named.filter((namespace) => !own.includes(namespace)))
}

interface Start extends RunOptions {
  readonly operator: Operator
  readonly watched: boolean | undefined
}

async function start(plane: ControlPlane, installed: readonly Manifest[], options: Start): Promise<DeployedOperator> {
  const { operator, isRough = false } = options
  const client = plane.client()
  for (const role of options.roles ?? []) await replaceRules(client, role)
  // Authorization reads roles from a cache.
  const { feed, store } = plane.server.parts.registry
  await feed.reached(await store.revision())

  const namespace = `${operator.name}-system`
  const account = {
    name: `system:serviceaccount:${namespace}:${operator.name}-controller-manager`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
  const refused = new Map<string, string>()
  const firstRefusal = new Deferred<string>()
  const refusal = new AbortController()
  const transport = roughTransport(plane.transport(account), {
    isOld: isRough,
    // Ignore objects that cannot be reconciled anyway.
    loses: (request) => isRough && !request.includes(` ${blockedName}`),
    onRefused: (request, message) => {
      refused.set(request, message)
      firstRefusal.resolve(message)
      refusal.abort(new Error(`The operator was refused: ${message}`))
    },
  })
  const within = <T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(systemClock, patience, what, (signal) => work(AbortSignal.any([signal, refusal.signal])))
  const sees = (kind: AnyKind, key: Key, isEnough: (sight: unknown) => boolean, what: string): Promise<unknown> =>
    within(what, (signal) => watchObject(client, kind, key, isEnough, { namespace: 'default', signal }))

  const clock = skippingClock()
  const listener = memoryHttpListener()
  const listening = new Deferred<void>()
  let stop: (signal: StopSignal) => void = () => undefined
  const host: RunHost = {
    args: argumentsOf(installed),
    env: { POD_NAMESPACE: namespace, POD_NAME: 'pod', ...(options.watched ? { WATCH_NAMESPACE: namespace } : {}) },
    clock,
    random: seededRandom(1),
    hostname: 'pod',
    isTerminal: false,
    out: () => undefined,
    note: () => undefined,
    onStopSignal: (listen) => {
      stop = listen
      return { [Symbol.dispose]: () => undefined }
    },
    exit: () => undefined,
    connect: async (options) => {
      const api = createClient({ ...options, transport, namespace })
      return { api, namespace, source: 'test' }
    },
    listener,
    listenForWebhooks: async ({ handler }) => {
      const served = plane.localServers.serve(`${operator.name}-webhook-service.${namespace}.svc:443`, handler)
      listening.resolve()
      const health = { name: 'webhook', check: () => undefined }
      const close = (): void => served[Symbol.dispose]()
      return { port: 9443, health, close, [Symbol.asyncDispose]: async () => close() }
    },
  }
  const running = runWith(operator, host)
  // For example on a busy machine, where the Lease was not renewed in time: the test does not restart it.
  void running.then((code) => refusal.abort(new Error(`The operator ended with ${code}`)))
  return {
    client,
    refused,
    firstRefusal: firstRefusal.promise,
    ready: needsWebhooks(operator) ? within('the webhooks', () => listening.promise) : Promise.resolve(),
    until: async (kind, key, when = () => true) => {
      const isEnough = (sight: unknown): boolean => sight !== undefined && when(sight as Infer<typeof kind>)
      return (await sees(kind, key, isEnough, `${kind.kind} ${JSON.stringify(key)}`)) as Infer<typeof kind>
    },
    async gone(kind, key) {
      await sees(kind, key, (sight) => sight === undefined, `${kind.kind} ${JSON.stringify(key)} to go`)
    },
    repeated: (reason, namespace, uid) =>
      within(`a repeated Event ${reason}`, async (signal) => {
        for await (const event of await client.watch(Event, { namespace, signal })) {
          if (event.type === 'BOOKMARK' || event.object.reason !== reason) continue
          if (uid !== undefined && event.object.regarding?.uid !== uid) continue
          if ((event.object.series?.count ?? 1) > 1) return event.type === 'MODIFIED'
        }
        throw signal.reason ?? new Error('The watch of Events ended')
      }),
    metrics: async (token) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await listener.request('metrics', '/metrics', { headers })).status
    },
    skip: (milliseconds) => clock.skip(milliseconds),
    async stop() {
      stop('SIGTERM')
      expect(await withDeadline(systemClock, patience, 'the operator to stop', () => running)).toBe(0)
    },
    async [Symbol.asyncDispose]() {
      stop('SIGTERM')
      await withDeadline(systemClock, patience, 'the operator to stop', () => running)
      await plane[Symbol.asyncDispose]()
    },
  }
}

/** The system clock, with a wall time that can be advanced. */
function skippingClock(): Clock & { skip(milliseconds: number): void } {
  let skipped = 0
  return {
    now: () => systemClock.now() + skipped,
    nowMicros: () => systemClock.nowMicros() + skipped * 1000,
    monotonic: () => systemClock.monotonic(),
    setTimer: (delay, callback, label) => systemClock.setTimer(delay, callback, label),
    sleep: (delay, options) => systemClock.sleep(delay, options),
    skip: (milliseconds) => {
      skipped += milliseconds
    },
  }
}

function argumentsOf(installed: readonly Manifest[]): readonly string[] {
  const deployment = installed.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: [{ args: string[] }] } } }
  }
  return deployment.spec.template.spec.containers[0].args
}

async function replaceRules(client: ApiClient, { kind, metadata, rules }: GrantedRole): Promise<void> {
  const { name, namespace } = metadata
  const draft = JSON.parse(JSON.stringify({ metadata: { name, namespace }, rules })) as Parameters<typeof Role>[0]
  await client.apply(kind === 'Role' ? Role(draft) : ClusterRole(draft), { force: true })
}
