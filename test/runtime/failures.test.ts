// Replicas that are cut off during their work, and lists that break off half-way: production managers, caches and
// clients on the embedded server, on one virtual clock. Every reconcile is recorded and checked for overlaps.
import { linkSignals, memoryLogger, seededRandom, systemClock, VirtualClock, withDeadline } from '@kubewright/base'
import {
  type ApiClient,
  bearerToken,
  ConnectionError,
  createClient,
  inProcessTransport,
  type Transport,
  type TransportBody,
  type TransportResponse,
} from '@kubewright/client'
import { ConfigMap } from '@kubewright/k8s'
import { createManager, defineController, defineOperator, type OperatorOptions } from '@kubewright/runtime'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const namespace = 'default'
const names = Array.from({ length: 12 }, (_, index) => `config-${index}`)
const leaseMillis = 15_000
const retryMillis = 2000
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

/** Modifies responses as they arrive. */
type ChangeAnswer = (path: string, response: TransportResponse) => TransportResponse

/** The transport of one replica. */
class Line implements Transport {
  readonly host = server.host
  readonly #change: ChangeAnswer
  readonly #cut = new AbortController()

  constructor(change: ChangeAnswer = (_, response) => response) {
    this.#change = change
  }

  /** Blocks all further requests. */
  cut(): void {
    this.#cut.abort(new ConnectionError('the connection broke off', { host: this.host }))
  }

  async send(request: Parameters<Transport['send']>[0]): ReturnType<Transport['send']> {
    if (this.#cut.signal.aborted) throw new ConnectionError('connection refused', { host: this.host })
    const signal = linkSignals(request.signal, this.#cut.signal).signal
    return this.#change(request.path, await server.send({ ...request, signal }))
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** One reconcile, from its start to its end. */
interface Work {
  readonly replica: string
  readonly key: string
  readonly from: number
  to: number
}

/** Reconciles of different replicas that overlapped in time; on the same key if keys are shared. */
function overlaps(history: readonly Work[], isSame: (a: Work, b: Work) => boolean): [Work, Work][] {
  return history.flatMap((a, i) =>
    history
      .slice(i + 1)
      .filter((b) => a.replica !== b.replica && isSame(a, b) && a.from < b.to && b.from < a.to)
      .map((b): [Work, Work] => [a, b]),
  )
}

/** Replicas of an operator that slowly copies the label `round` of each ConfigMap to an annotation. */
class Replicas {
  readonly clock = new VirtualClock()
  readonly history: Work[] = []
  readonly #how: Pick<OperatorOptions, 'leaderElection' | 'sharding'>
  readonly #workMillis: number
  readonly #running: { stop(): void; readonly ended: Promise<void> }[] = []
  #count = 0

  constructor(how: Pick<OperatorOptions, 'leaderElection' | 'sharding'>, workMillis = 300) {
    this.#how = how
    this.#workMillis = workMillis
  }

  start(line = new Line()) {
    const { clock, history } = this
    const identity = `replica-${++this.#count}`
    const copies = defineController(ConfigMap, {
      concurrency: 2,
      reconcile: async ({ metadata: { name, labels, annotations } }, { client, signal }) => {
        const round = labels?.['round']
        if (round === undefined || annotations?.['round'] === round) return
        const work: Work = { replica: identity, key: name, from: clock.now(), to: Number.POSITIVE_INFINITY }
        history.push(work)
        try {
          await clock.sleep(this.#workMillis, { signal })
          await client.patch(ConfigMap, { name, namespace }, { metadata: { annotations: { round, by: identity } } })
        } finally {
          work.to = clock.now()
        }
      },
    })
    const operator = defineOperator({ name: 'op', controllers: [copies], ...this.#how })
    const client = createClient({ transport: line, credentials: bearerToken('admin'), clock })
    const random = seededRandom(this.#count)
    const manager = createManager({ operator, client, clock, random, log: memoryLogger(0), identity })
    const stop = new AbortController()
    const ended = manager.start({ signal: stop.signal }).catch(() => undefined)
    this.#running.push({ stop: () => stop.abort(), ended })
    return { identity, line, manager }
  }

  /** Advances the clock until the condition holds: in small steps, because the server responds in real time. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return withDeadline(systemClock, '40s', what, async (signal) => {
      while (!(await holds()) && !signal.aborted) await this.clock.advance('50ms')
    })
  }

  async finish(): Promise<void> {
    let left = this.#running.length
    for (const { stop, ended } of this.#running) {
      void ended.then(() => left--)
      stop()
    }
    await this.until('the end', () => left === 0)
  }
}

async function ask(round: string, of: readonly string[] = names): Promise<void> {
  for (const name of of) {
    const draft = ConfigMap({ metadata: { name, namespace, labels: { round } } })
    await api.apply(draft, { fieldManager: 'test', force: true })
  }
}

const answered =
  (round: string, count = names.length) =>
  async (): Promise<boolean> => {
    const configs = await api.list(ConfigMap, { namespace, labels: { round } })
    return configs.length === count && configs.every(({ metadata }) => metadata.annotations?.['round'] === round)
  }

describe('a leader that is cut off', () => {
  test.each([1, 2, 3])(
    'is replaced within the lease duration, and the two leaders never work at once (seed %i)',
    async (seed) => {
      const replicas = new Replicas({ leaderElection: { onLost: 'step-down' } })
      const first = replicas.start()
      await replicas.until('the first to lead', () => first.manager.isLeader)
      const second = replicas.start()
      await ask('1')
      await replicas.until('the first round', answered('1'))
      await ask('2')
      // At a random moment of the second round.
      for (let steps = seededRandom(seed).int(20); steps > 0; steps--) await replicas.clock.advance('50ms')
      const cutAt = replicas.clock.now()
      first.line.cut()
      await replicas.until('the second to lead', () => second.manager.isLeader)
      // Another replica must observe the Lease unchanged for its whole duration, and checks every retry period with 20
      // % jitter.
      expect(replicas.clock.now() - cutAt).toBeLessThan(leaseMillis + 2 * 1.2 * retryMillis)
      expect(first.manager.isLeader).toBe(false)
      await replicas.until('the second round', answered('2'))
      await replicas.finish()
      expect(new Set(replicas.history.map(({ replica }) => replica))).toEqual(new Set(['replica-1', 'replica-2']))
      expect(overlaps(replicas.history, () => true)).toEqual([])
    },
  )
})

describe('one of three replicas that share the keys', () => {
  test.each([1, 2, 3])(
    'is cut off: every key is reconciled, and none by two replicas at once (seed %i)',
    async (seed) => {
      const replicas = new Replicas({ sharding: true })
      const all = [replicas.start(), replicas.start(), replicas.start()]
      const agree = (among: typeof all): boolean =>
        among.every(({ manager }) => {
          const { joined, members } = manager.describe().sharding ?? { joined: false, members: [] }
          return joined && members.length === among.length
        })
      await replicas.until('all to join', () => agree(all))
      await ask('1')
      await replicas.until('the first round', answered('1'))
      expect(new Set(replicas.history.map(({ replica }) => replica)).size).toBe(3)
      await ask('2')
      const random = seededRandom(seed)
      for (let steps = random.int(12); steps > 0; steps--) await replicas.clock.advance('50ms')
      const [victim] = all.splice(random.int(3), 1)
      victim!.line.cut()
      // The other replicas do not know yet: the keys of the lost one wait until its lease has expired.
      await ask('3')
      await replicas.until('the others to know', () => agree(all))
      await replicas.until('the third round', answered('3'))
      await replicas.finish()
      const worked = new Set(replicas.history.map(({ key }) => key))
      expect([...worked].sort()).toEqual([...names].sort())
      expect(overlaps(replicas.history, (a, b) => a.key === b.key)).toEqual([])
    },
  )
})

test('the checker detects overlaps of replicas that do not know of each other', async () => {
  const replicas = new Replicas({})
  replicas.start()
  replicas.start()
  await ask('1')
  await replicas.until('the round', answered('1'))
  await replicas.finish()
  expect(overlaps(replicas.history, (a, b) => a.key === b.key)).not.toEqual([])
})

/** A body that breaks off after some bytes. */
function brokenAfter(body: TransportBody, limit: number): TransportBody {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let left = limit
    for await (const chunk of body) {
      yield chunk.subarray(0, left)
      left -= chunk.length
      if (left <= 0) {
        body.discard()
        throw new ConnectionError('the connection broke off', { host: server.host })
      }
    }
  }
  return {
    async bytes() {
      const chunks: Uint8Array[] = []
      for await (const chunk of pieces()) chunks.push(chunk)
      return Buffer.concat(chunks)
    },
    discard: () => body.discard(),
    [Symbol.asyncIterator]: pieces,
  }
}

describe('a list that breaks off half-way', () => {
  const many = Array.from({ length: 100 }, (_, index) => `many-${index}`)

  test.each([1, 2, 3])('is retried until it is complete, and no key is missed (seed %i)', async (seed) => {
    await ask('1', many)
    const random = seededRandom(seed)
    let left = 6
    const line = new Line((path, response) => {
      if (left === 0 || !path.startsWith(`/api/v1/configmaps`)) return response
      left--
      return { ...response, body: brokenAfter(response.body, 1 + random.int(30_000)) }
    })
    const replicas = new Replicas({}, 0)
    replicas.start(line)
    await replicas.until('all lists to break', () => left === 0)
    await replicas.until('the round', answered('1', many.length))
    // The watch resumes where the last list ended.
    await ask('2', many.slice(0, 20))
    await replicas.until('the second round', answered('2', 20))
    await replicas.finish()
  })
})
