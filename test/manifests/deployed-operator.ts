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

/** A cluster on which an operator is installed, and not running: any number of runs can start from there. */
export interface InstalledOperator extends AsyncDisposable {
  /** Runs the operator on a copy of the cluster. */
  run(options?: RunOptions): Promise<DeployedOperator>
}

/** How an operator is run. */
export interface RunOptions {
  /** One that is like the one that was installed, for those that keep something. @default that one */
  readonly operator?: Operator | undefined
  readonly nodes?: NodesOptions | undefined
  /** The rules that a role of the operator has instead of its own. */
  readonly roles?: readonly GrantedRole[] | undefined
  /** Whether the server cannot stream lists, and the network loses answers. @default false */
  readonly isRough?: boolean | undefined
}

/** An operator that runs as its Deployment would: with the account, the roles and the flags of its manifests, on an embedded cluster. */
export interface DeployedOperator extends AsyncDisposable {
  readonly client: ApiClient
  /** Resolves when it answers webhooks, if it has any. */
  readonly ready: Promise<void>
  /** What it was refused, and in which words. */
  readonly refused: ReadonlyMap<string, string>
  /** Resolves with the words of the first refusal. What the scenario waits for from then on rejects. */
  readonly firstRefusal: Promise<string>
  until<K extends AnyKind>(kind: K, key: Key, when?: (object: Infer<K>) => boolean): Promise<Infer<K>>
  gone(kind: AnyKind, key: Key): Promise<void>
  /**
   * Waits for an Event of this reason, and of this object if that is given, that occurred again. Resolves with whether it was seen to be
   * written again for that: when much happens at once, it may have occurred twice before it is written at all.
   */
  repeated(reason: string, namespace: string, uid?: string): Promise<boolean>
  /** Asks for metrics as whom the token names. */
  metrics(token: string): Promise<number>
  /** Has the operator find that much time gone, as after a sleep of its machine. */
  skip(milliseconds: number): void
  /** Ends the program as Kubernetes would. */
  stop(): Promise<void>
}

/** A role that the operator itself has. */
export interface GrantedRole extends Manifest {
  readonly rules: readonly PolicyRule[]
}

/** What the names of objects that cannot be reconciled begin with. */
export const blockedName = 'taken'

/** A bearer token of somebody who may do nothing. */
export const scraperToken = 'scraper'

/** How long is waited for anything: so long that only what never comes takes it. */
const patience = '60s'

/** How an operator is installed. */
export interface InstallOptions extends DescribeOptions {
  readonly nodes?: NodesOptions | undefined
}

/** The roles that the manifests of an operator give it: not those for people. */
export function rolesOf(operator: Operator, options: InstallOptions = {}): GrantedRole[] {
  const installed = installObjects(describeOperator(operator, options))
  const bound = installed.flatMap(({ kind, roleRef }) =>
    kind.endsWith('RoleBinding') ? [(roleRef as { name: string }).name] : [],
  )
  return installed.filter(({ kind, metadata }) => /Role$/.test(kind) && bound.includes(metadata.name)) as GrantedRole[]
}

/** Installs an operator as its manifests say, on a server that checks who blocks the deletion of owners. */
export async function installOperator(operator: Operator, options: InstallOptions = {}): Promise<InstalledOperator> {
  const user = { name: 'scraper', groups: ['system:authenticated'] }
  await using plane = await startControlPlane({
    tokens: [{ token: scraperToken, user }],
    nodes: options.nodes,
    server: { admissionPlugins: ['OwnerReferencesPermissionEnforcement'] },
  })
  const client = plane.client()
  const installed = installObjects(describeOperator(operator, options))
  for (const name of elsewhere(installed)) await client.apply(Namespace({ metadata: { name } }))
  for (const object of installed) {
    // The program runs here instead.
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

/** Namespaces that the operator is given rights in and does not bring with it. */
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
  // Authorization looks at a cache of the roles.
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
    // An object that cannot be reconciled anyway is no reason to look again.
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
  // Such as when a machine is so busy that the Lease was not renewed in time: nobody restarts it here.
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

/** The system's clock, whose wall time can be put forward. */
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
