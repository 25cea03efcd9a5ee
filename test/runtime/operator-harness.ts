// Runs controllers with an in-memory server on virtual time, with the same cache, client and runner as in a manager.
import { type AnyKind, crdOf, type Infer, type KubeObject } from '@kubewright/api'
import { type Duration, type MemoryLogger, memoryLogger, seededRandom, toMillis, VirtualClock } from '@kubewright/base'
import {
  type ApiClient,
  bearerToken,
  createClient,
  inProcessTransport,
  type Key,
  type TransportRequest,
} from '@kubewright/client'
import {
  type Cluster,
  type ClusterOptions,
  type Controller,
  type ControllerRunner,
  createCluster,
  createControllerRunner,
  createEventRecorder,
  noTracer,
  objectController,
} from '@kubewright/runtime'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'

/** Running controllers. */
export interface Harness extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly log: MemoryLogger
  /** The client of another user: uncached, and its requests are not recorded. */
  readonly client: ApiClient
  readonly cluster: Cluster
  readonly runners: readonly ControllerRunner[]
  /** Runs a further controller until it is disposed, like another process of the operator. */
  start(controller: Controller): AsyncDisposable
  /** The writes of the controllers since the last call, without Events. */
  writes(): string[]
  /** Advances the clock until the check returns a value. Fails after ten minutes, with the last errors. */
  until<T>(check: () => Promise<T | undefined | false> | T | undefined | false): Promise<T>
  untilObject<K extends AnyKind>(kind: K, key: Key, when: (object: Infer<K>) => boolean): Promise<Infer<K>>
  untilGone(kind: AnyKind, key: Key): Promise<void>
  /** Advances the clock and lets the controllers run. */
  settle(duration?: Duration): Promise<void>
}

/** Options of {@link startHarness}. */
export interface HarnessOptions {
  readonly controllers: readonly Controller[]
  /** Custom resources to install first. */
  readonly kinds?: readonly Parameters<typeof crdOf>[0][]
  /** Options of the cache. */
  readonly cache?: ClusterOptions['cache']
  /** Prepares the cluster before the controllers start. */
  readonly prepare?: (client: ApiClient) => Promise<void>
}

/** Starts a server, installs custom resources and runs the controllers. */
export async function startHarness({ controllers, kinds = [], prepare, cache }: HarnessOptions): Promise<Harness> {
  const clock = new VirtualClock()
  const random = seededRandom('harness')
  const log = memoryLogger(0)
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, clock, random, access })
  const transport = inProcessTransport({ handler: server.handler })
  const credentials = bearerToken('admin')
  const client = createClient({ transport, credentials })
  const sent: string[] = []
  const counted = {
    ...transport,
    host: transport.host,
    send(request: TransportRequest) {
      const text = `${request.method} ${request.path.split('?')[0]}`
      if (request.method !== 'GET' && !text.includes('/events')) sent.push(text)
      return transport.send(request)
    },
  }
  const api = createClient({ transport: counted, credentials })
  const cluster = createCluster({ api, clock, random, log, cache })
  const metrics = { add: () => undefined, set: () => undefined, observe: () => undefined }
  const events = createEventRecorder({ client: cluster.client, clock, log, component: 'test', instance: 'test-0' })
  const parts = { cluster, clock, random, log, metrics, tracer: noTracer, events, operator: 'test' }
  const runners: ControllerRunner[] = []
  const runs: AsyncDisposable[] = []

  const harness: Harness = {
    clock,
    log,
    client,
    cluster,
    runners,
    start(controller) {
      const runner = createControllerRunner(objectController(controller), parts)
      const stop = new AbortController()
      const working = runner.work({ drain: stop.signal, abort: stop.signal })
      runners.push(runner)
      return {
        async [Symbol.asyncDispose]() {
          stop.abort()
          await working
          await runner[Symbol.asyncDispose]()
        },
      }
    },
    writes: () => sent.splice(0),
    async until(check) {
      for (let step = 0; step < 6000; step++) {
        const found = await check()
        if (found !== undefined && found !== false) return found
        await clock.advance('100ms')
      }
      const errors = log.records.filter((record) => 'error' in record).map(({ error }) => String(error))
      throw new Error(`the check returned nothing within ten minutes; last errors: ${errors.slice(-3).join('; ')}`)
    },
    untilObject(kind, key, when) {
      return harness.until(async () => {
        const object = await client.find(kind, key)
        return object !== undefined && when(object) ? object : undefined
      })
    },
    async untilGone(kind, key) {
      await harness.until(async () => (await client.find(kind, key)) === undefined)
    },
    async settle(duration = '1s') {
      for (let passed = 0; passed < toMillis(duration); passed += 100) await clock.advance('100ms')
    },
    async [Symbol.asyncDispose]() {
      for (const run of runs) await run[Symbol.asyncDispose]()
      await events[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
  for (const kind of kinds) {
    await client.create(crdOf(kind))
    // A kind is served when it can be listed.
    await harness.until(() => client.list(kind as AnyKind, { namespace: '' }).catch(() => undefined))
  }
  await prepare?.(client)
  cluster.cache.start()
  for (const controller of controllers) runs.push(harness.start(controller))
  return harness
}

/** A check for a condition. */
export function hasCondition(type: string, status = 'True'): (object: KubeObject) => boolean {
  return (object) => {
    const { status: found } = object as { status?: { conditions?: readonly { type: string; status: string }[] } }
    return found?.conditions?.some((condition) => condition.type === type && condition.status === status) ?? false
  }
}
