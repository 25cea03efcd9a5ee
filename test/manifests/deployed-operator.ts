import type { AnyKind, Infer } from '@kubewright/api'
import { Deferred, seededRandom, systemClock, withDeadline } from '@kubewright/base'
import { type ApiClient, createClient, type Key, type Transport } from '@kubewright/client'
import { type ControlPlane, type NodesOptions, startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition } from '@kubewright/k8s'
import {
  memoryHttpListener,
  needsWebhooks,
  type Operator,
  type RunHost,
  runWith,
  type StopSignal,
} from '@kubewright/runtime'
import { expect } from 'vitest'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { type DescribeOptions, describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { watchObject } from '../../packages/testing/src/watch-object.ts'
import { accessOfRequest, type UsedAccess } from './used-access.ts'

/** An operator that runs as its Deployment would: with the account, the roles and the flags of its manifests, on an embedded cluster. */
export interface DeployedOperator extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly client: ApiClient
  readonly account: { readonly name: string; readonly groups: readonly string[] }
  /** The objects that were installed. */
  readonly installed: readonly Manifest[]
  /** What it has asked the API server for, each thing once. */
  readonly used: ReadonlyMap<string, UsedAccess>
  /** What it was refused. */
  readonly refused: ReadonlySet<string>
  readonly log: readonly string[]
  until<K extends AnyKind>(kind: K, key: Key, when?: (object: Infer<K>) => boolean): Promise<Infer<K>>
  gone(kind: AnyKind, key: Key): Promise<void>
  /** Asks for metrics as whom the token names. */
  metrics(token: string): Promise<number>
  /** Ends the program as Kubernetes would. */
  stop(): Promise<void>
}

/** A bearer token of somebody who may do nothing. */
export const scraperToken = 'scraper'

const within = <T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  withDeadline(systemClock, '20s', what, work)

/** How an operator is installed, and on what. */
export interface DeployOptions extends DescribeOptions {
  readonly nodes?: NodesOptions | undefined
}

/** Installs an operator and runs it. */
export async function deployOperator(operator: Operator, options: DeployOptions = {}): Promise<DeployedOperator> {
  const user = { name: 'scraper', groups: ['system:authenticated'] }
  const plane = await startControlPlane({ tokens: [{ token: scraperToken, user }], nodes: options.nodes })
  const client = plane.client()
  const installed = installObjects(describeOperator(operator, options))
  for (const object of installed) {
    // The program runs here instead.
    if (object.kind !== 'Deployment') await client.apply(object as never, { force: true })
  }
  const until: DeployedOperator['until'] = async (kind, key, when = () => true) => {
    const isEnough = (sight: Infer<typeof kind> | undefined): boolean => sight !== undefined && when(sight)
    const name = `${kind.kind} ${JSON.stringify(key)}`
    const work = (signal: AbortSignal) => watchObject(client, kind, key, isEnough, { namespace: 'default', signal })
    return (await within(name, work)) as Infer<typeof kind>
  }
  for (const { metadata } of installed.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
    await until(CustomResourceDefinition, metadata.name, ({ status }) =>
      (status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True'),
    )
  }
  const namespace = `${operator.name}-system`
  const account = {
    name: `system:serviceaccount:${namespace}:${operator.name}-controller-manager`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
  const used = new Map<string, UsedAccess>()
  const refused = new Set<string>()
  const log: string[] = []
  const listener = memoryHttpListener()
  const listening = new Deferred<void>()
  let stop: (signal: StopSignal) => void = () => undefined
  const transport = recorded(plane.transport(account), used, refused)
  const deployment = installed.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: [{ args: string[] }] } } }
  }
  const host: RunHost = {
    args: deployment.spec.template.spec.containers[0].args,
    env: { POD_NAMESPACE: namespace, POD_NAME: 'pod', ...(options.namespaced ? { WATCH_NAMESPACE: namespace } : {}) },
    clock: systemClock,
    random: seededRandom(1),
    hostname: 'pod',
    isTerminal: false,
    out: () => undefined,
    note: (line) => void log.push(line),
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
      listening.resolve()
      const served = plane.localServers.serve(`${operator.name}-webhook-service.${namespace}.svc:443`, handler)
      const health = { name: 'webhook', check: () => undefined }
      const close = (): void => served[Symbol.dispose]()
      return { port: 9443, health, close, [Symbol.asyncDispose]: async () => close() }
    },
  }
  const running = runWith(operator, host)
  if (needsWebhooks(operator)) await within('the webhooks', () => listening.promise)
  return {
    plane,
    client,
    account,
    installed,
    used,
    refused,
    log,
    until,
    async gone(kind, key) {
      const isEnough = (sight: unknown): boolean => sight === undefined
      const work = (signal: AbortSignal) => watchObject(client, kind, key, isEnough, { namespace: 'default', signal })
      await within(`${kind.kind} ${JSON.stringify(key)} to go`, work)
    },
    metrics: async (token) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await listener.request('metrics', '/metrics', { headers })).status
    },
    async stop() {
      stop('SIGTERM')
      expect(await within('the operator to stop', () => running)).toBe(0)
    },
    async [Symbol.asyncDispose]() {
      stop('SIGTERM')
      await within('the operator to stop', () => running)
      await plane[Symbol.asyncDispose]()
    },
  }
}

function recorded(transport: Transport, used: Map<string, UsedAccess>, refused: Set<string>): Transport {
  return {
    host: transport.host,
    async send(request) {
      const access = accessOfRequest(request.method, request.path, request.body)
      if (access) used.set(access.id, access)
      const response = await transport.send(request)
      if (access && response.status === 403) refused.add(access.id)
      // What an apply creates takes that right too.
      if (access && request.method === 'PATCH' && response.status === 201) {
        used.set(`create by ${access.id}`, { ...access, verb: 'create', name: '' })
      }
      return response
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}
