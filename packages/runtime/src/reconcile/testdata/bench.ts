import type { KubeObject } from '@kubewright/api'
import { type MemoryLogger, memoryLogger, seededRandom, uuid, VirtualClock } from '@kubewright/base'
import {
  type ApiClient,
  allNamespaces,
  bearerToken,
  createClient,
  inProcessTransport,
  type TransportRequest,
} from '@kubewright/client'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import type { ControllerParts } from '../../controller/controller-parts.ts'
import type { KeyOutcome } from '../../controller/key-controller.ts'
import type { Controller } from '../../define/define-controller.ts'
import type { EventNote } from '../../telemetry/events/event-recorder.ts'
import { noTracer } from '../../telemetry/tracing/tracer.ts'
import { objectController } from '../object-controller.ts'
import { Home, install } from './home.ts'

/** A sent request: `PATCH /apis/...` without the query. */
export interface SentRequest {
  readonly text: string
  readonly body: string
}

/**
 * An in-memory API server and the reconciler of a controller, without queue and cache: reads are live, so tests control
 * what it sees.
 */
export interface Bench extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly log: MemoryLogger
  /** A client whose requests are not recorded. */
  readonly client: ApiClient
  readonly requests: SentRequest[]
  readonly events: { readonly regarding: KubeObject; readonly note: EventNote }[]
  /** The counters, by name and result. */
  readonly counts: Map<string, number>
  /** Called before each request of the controller. May do something else first, or throw instead. */
  before: (request: SentRequest) => void | Promise<void>
  /** Called after the server has processed a request, before the response is returned. May throw instead. */
  after: (request: SentRequest) => void | Promise<void>
  /** Starts a run of a controller; the result reconciles keys. */
  run(controller: Controller): (key: string) => Promise<KeyOutcome | void>
  /** The recorded writes since the last call. */
  writes(): string[]
}

/** Starts a server that serves Homes. */
export async function startBench(): Promise<Bench> {
  const clock = new VirtualClock()
  const random = seededRandom('bench')
  const log = memoryLogger()
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, clock, access })
  const transport = inProcessTransport({ handler: server.handler })
  const credentials = bearerToken('admin')
  const client = createClient({ transport, credentials })
  const requests: SentRequest[] = []
  const observed = {
    ...transport,
    host: transport.host,
    async send(request: TransportRequest) {
      const sent = {
        text: `${request.method} ${request.path.split('?')[0]}`,
        body: request.body === undefined ? '' : new TextDecoder().decode(request.body),
      }
      await bench.before(sent)
      requests.push(sent)
      const answer = await transport.send(request)
      await bench.after(sent)
      return answer
    },
  }
  const controllerClient = createClient({ transport: observed, credentials, listNamespace: allNamespaces })
  const bench: Bench = {
    clock,
    log,
    client,
    requests,
    events: [],
    counts: new Map(),
    before: () => undefined,
    after: () => undefined,
    run(controller) {
      const events = {
        record: (regarding: KubeObject, note: EventNote) => void bench.events.push({ regarding, note }),
      }
      const metrics = {
        add: (name: string, labels: Readonly<Record<string, string>>, amount: number) => {
          const series = `${name} ${labels['result']}`
          bench.counts.set(series, (bench.counts.get(series) ?? 0) + amount)
        },
        set: () => undefined,
        observe: () => undefined,
      }
      // The reconciler uses only the client of the cluster and the health of its watches.
      const cluster = {
        cache: { health: new Map() },
        name: '',
        api: controllerClient,
        client: controllerClient,
      } as unknown as ControllerParts['cluster']
      const parts = { cluster, clock, random, log, metrics, tracer: noTracer, events, operator: 'home-operator' }
      const reconcile = objectController(controller).start(parts)
      return async (key) => {
        const signal = new AbortController().signal
        const now = (): Date => new Date(clock.now())
        const context = { client: controllerClient, signal, now, log, events, causes: [], reconcileID: uuid(random) }
        const watch = () => Promise.reject(new Error('the bench has no cache'))
        const clusters = { get: () => undefined, [Symbol.iterator]: () => [].values() }
        return reconcile(key, { ...context, cluster, clusters, watch, waitsFor: () => undefined })
      }
    },
    writes: () => {
      const texts = requests.splice(0).map(({ text }) => text)
      return texts.filter((text) => !text.startsWith('GET '))
    },
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
  await install(client, Home)
  return bench
}
