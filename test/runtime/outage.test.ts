// An operator whose API server becomes unavailable: for minutes, and repeatedly at random moments.
import { linkSignals, memoryLogger, seededRandom, systemClock, VirtualClock, withDeadline } from '@kubewright/base'
import {
  type ApiClient,
  bearerToken,
  ConnectionError,
  createClient,
  inProcessTransport,
  type Transport,
} from '@kubewright/client'
import { ConfigMap, Lease } from '@kubewright/k8s'
import { createManager, defineController, defineOperator } from '@kubewright/runtime'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterEach, beforeEach, expect, test } from 'vitest'

const namespace = 'default'
const names = Array.from({ length: 10 }, (_, index) => `config-${index}`)
let server: Transport
let api: ApiClient
let end: () => Promise<void>

beforeEach(async () => {
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const assembled = await assembleServer({ store, access })
  server = inProcessTransport({ handler: assembled.handler })
  api = createClient({ transport: server, credentials: bearerToken('admin') })
  end = async () => {
    await server[Symbol.asyncDispose]()
    await assembled[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
})
afterEach(() => end())

/** A transport that can be cut: requests in flight break off, later ones are refused. */
class Line implements Transport {
  readonly host = server.host
  #cut: AbortController | undefined = new AbortController()

  cut(): void {
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    this.#cut?.abort(new ConnectionError('the connection broke off', { host: this.host, cause }))
    this.#cut = undefined
  }

  mend(): void {
    this.#cut ??= new AbortController()
  }

  async send(request: Parameters<Transport['send']>[0]): ReturnType<Transport['send']> {
    if (this.#cut === undefined) throw new ConnectionError('connection refused', { host: this.host })
    return server.send({ ...request, signal: linkSignals(request.signal, this.#cut.signal).signal })
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** An operator that copies the label `round` of each ConfigMap to an annotation. */
function startOperator() {
  const line = new Line()
  const clock = new VirtualClock()
  const client = createClient({ transport: line, credentials: bearerToken('admin'), clock })
  const log = memoryLogger(0)
  const copies = defineController(ConfigMap, {
    concurrency: 3,
    async reconcile({ metadata: { name, labels, annotations } }, { client: cached }) {
      const round = labels?.['round']
      if (round === undefined || annotations?.['round'] === round) return
      await cached.patch(ConfigMap, { name, namespace }, { metadata: { annotations: { round } } })
    },
  })
  const operator = defineOperator({ name: 'op', controllers: [copies], leaderElection: { onLost: 'step-down' } })
  const manager = createManager({ operator, client, clock, random: seededRandom(1), log, identity: 'replica' })
  const stop = new AbortController()
  const ended = manager.start({ signal: stop.signal })
  ended.catch(() => undefined)
  /** Advances the clock until the condition holds: in small steps, because the server responds in real time. */
  const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
    withDeadline(systemClock, '30s', what, async (signal) => {
      while (!(await holds()) && !signal.aborted) await clock.advance('50ms')
    })
  const finish = async (): Promise<void> => {
    stop.abort()
    let done = false
    const settle = (): void => {
      done = true
    }
    ended.then(settle, settle)
    await until('the end', () => done)
    await ended
  }
  return { line, clock, manager, log, until, finish }
}

async function ask(round: string): Promise<void> {
  for (const name of names) {
    const draft = ConfigMap({ metadata: { name, namespace, labels: { round } } })
    await api.apply(draft, { fieldManager: 'test', force: true })
  }
}

const answered = (round: string) => async (): Promise<boolean> => {
  const configs = await api.list(ConfigMap, { namespace, labels: { round } })
  return configs.length === names.length && configs.every(({ metadata }) => metadata.annotations?.['round'] === round)
}

test('an operator steps down during a long outage of its API server, and resumes afterwards', async () => {
  const { line, clock, manager, until, finish } = startOperator()
  await ask('1')
  await until('the first round', answered('1'))
  line.cut()
  await clock.advance('5m')
  expect(manager.isLeader).toBe(false)
  await ask('2')
  line.mend()
  await until('the second round', answered('2'))
  expect(manager.isLeader).toBe(true)
  await finish()
  expect((await api.get(Lease, { name: 'op', namespace })).spec.holderIdentity).toBe('')
})

test.each([1, 2, 3, 4])(
  'an operator whose connections break at random moments misses no change (seed %i)',
  async (seed) => {
    const { line, clock, until, finish } = startOperator()
    const random = seededRandom(seed)
    for (let round = 1; round <= 8; round++) {
      await ask(String(round))
      for (let steps = random.int(30); steps > 0; steps--) await clock.advance('10ms')
      line.cut()
      await clock.advance(random.int(20_000))
      line.mend()
    }
    await until('the last round', answered('8'))
    await finish()
  },
)
