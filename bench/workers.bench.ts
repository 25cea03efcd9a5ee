// Measures `kubewright up --workers`: how many requests its processes can serve when each has a core.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Suite } from './harness.ts'
import { KubewrightUp } from './server/kubewright-up.ts'
import { creates, load, maps, type Operation } from './server/load.ts'

const root = join(import.meta.dirname, '..')
const clients = 12
const known = 500
const rounds = 7

/** The CPU time per request of all processes, and of the one that takes the most. */
interface Cost {
  readonly sum: number
  readonly busiest: number
}

interface Work {
  readonly work: string
  /** The requests before those that are measured. Two processes share them, and V8 must have optimized the code of both. */
  readonly warmUp: number
  readonly count: number
  readonly operation: Operation
}

const works: readonly Work[] = (() => {
  const create = creates('work')
  const get: Operation = (client, i) => client.send('GET', `${maps}/map-${i % known}`)
  const list: Operation = (client) => client.send('GET', `${maps}?limit=${known}`)
  const mixed: Operation = (client, i) => (i % 10 === 0 ? create : i % 10 === 1 ? list : get)(client, i)
  return [
    { work: 'get', warmUp: 30_000, count: 12_000, operation: get },
    { work: 'create', warmUp: 30_000, count: 6000, operation: create },
    { work: `list of ${known} objects`, warmUp: 1200, count: 1200, operation: list },
    { work: '8 gets, a create and a list', warmUp: 6000, count: 6000, operation: mixed },
  ]
})()

/** One or more servers that do the same work together. */
interface Contender {
  readonly name: string
  readonly servers: readonly KubewrightUp[]
  /** The best round of each work. */
  readonly costs: Map<string, Cost>
}

async function startContender(name: string, workers: readonly number[]): Promise<Contender> {
  const servers: KubewrightUp[] = []
  for (const count of workers) {
    const server = await KubewrightUp.start('--memory', ...(count === 0 ? [] : ['--workers', String(count)]))
    await server.workersReady(count)
    await load(server, clients, known, creates())
    servers.push(server)
  }
  return { name, servers, costs: new Map() }
}

async function loadAll({ servers }: Contender, count: number, operation: Operation): Promise<void> {
  const share = (whole: number): number => Math.ceil(whole / servers.length)
  await Promise.all(servers.map((server) => load(server, share(clients), share(count), operation)))
}

async function measureRound(contender: Contender, { work, count, operation }: Work): Promise<void> {
  const { servers, costs } = contender
  const cpu = (): Map<number, number> => new Map(servers.flatMap((server) => [...server.cpuMillisByProcess()]))
  const before = cpu()
  await loadAll(contender, count, operation)
  const each = [...cpu()].map(([pid, millis]) => (millis - (before.get(pid) ?? 0)) / count)
  const cost = { sum: each.reduce((sum, one) => sum + one, 0), busiest: Math.max(...each) }
  if (cost.busiest < (costs.get(work)?.busiest ?? Number.POSITIVE_INFINITY)) costs.set(work, cost)
}

/** All contenders run during the whole measurement and take turns: the speed of a machine can change by a third within minutes. */
async function measureInTurns(contenders: readonly Contender[]): Promise<void> {
  for (const work of works) {
    for (const contender of contenders) await loadAll(contender, work.warmUp, work.operation)
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) await measureRound(contender, work)
    }
  }
}

const millis = (value: number): string => `${value.toFixed(3)} ms`

export const suite: Suite = {
  title: 'Workers',
  about: `\`kubewright up --memory\` with ${clients} clients over HTTP/2 and TLS, in one process and with workers. The clients take more than a core, so that elapsed time says little on a machine with two. The table shows CPU time per request instead: of all processes, and of the busiest one, which limits the throughput when each process has a core. The throughput is computed from it. Two separate servers with half of the clients each show the most that two processes can reach: processes that run at the same time compete for the caches and the memory of the machine. Best of ${rounds} rounds, in which the contenders take turns.`,
  report: async () => {
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'ignore' })
    const lines = [
      '| work | processes | CPU of all | CPU of the busiest | throughput, computed | compared with one process |',
    ]
    lines.push('|---|---|---|---|---|---|')
    const contenders: Contender[] = []
    try {
      contenders.push(await startContender('1', [0]))
      contenders.push(await startContender('2', [1]))
      contenders.push(await startContender('2 separate servers', [0, 0]))
      contenders.push(await startContender('4', [3]))
      await measureInTurns(contenders)
    } finally {
      await Promise.all(contenders.flatMap(({ servers }) => servers.map((server) => server.stop())))
    }
    const alone = contenders[0]!.costs
    const gains = contenders.map(({ name, costs }) => {
      let gain = 1
      for (const [work, { sum, busiest }] of costs) {
        gain = alone.get(work)!.busiest / busiest
        const throughput = `${Math.round(1000 / busiest).toLocaleString('en')}/s`
        const cells = [work, name, millis(sum), millis(busiest), throughput, `${gain.toFixed(2)}×`]
        lines.push(`| ${cells.join(' | ')} |`)
      }
      // That of the last work, the mixed one.
      return gain
    })
    const [, mixed = 0, most = 0] = gains
    const verdict = mixed >= 1.7 ? 'met' : 'missed'
    lines.push('', '| figure | result |', '|---|---|')
    lines.push(`| throughput, compared with one process | ${mixed.toFixed(2)}× (target 1.7: ${verdict}) |`)
    lines.push(`| two separate servers, compared with one process | ${most.toFixed(2)}× |`)
    return lines
  },
}
