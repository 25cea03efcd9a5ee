// Measures `kubewright up --workers`: how many requests its processes can serve when each has a core.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Suite } from './harness.ts'
import { KubewrightUp } from './server/kubewright-up.ts'
import { creates, load, maps, type Operation } from './server/load.ts'

const root = join(import.meta.dirname, '..')
const clients = 12
const known = 500
const rounds = 3

/** The CPU time per request of all processes, and of the one that takes the most. */
interface Cost {
  readonly sum: number
  readonly busiest: number
}

const works: readonly { readonly work: string; readonly count: number; readonly operation: Operation }[] = (() => {
  const create = creates('work')
  const get: Operation = (client, i) => client.send('GET', `${maps}/map-${i % known}`)
  const list: Operation = (client) => client.send('GET', `${maps}?limit=${known}`)
  const mixed: Operation = (client, i) => (i % 10 === 0 ? create : i % 10 === 1 ? list : get)(client, i)
  return [
    { work: 'get', count: 12_000, operation: get },
    { work: 'create', count: 6000, operation: create },
    { work: `list of ${known} objects`, count: 1200, operation: list },
    { work: '8 gets, a create and a list', count: 6000, operation: mixed },
  ]
})()

async function measure(workers: number): Promise<Map<string, Cost>> {
  const flags = workers === 0 ? [] : ['--workers', String(workers)]
  await using server = await KubewrightUp.start('--memory', ...flags)
  await server.workersReady(workers)
  await load(server, clients, known, creates())
  const costs = new Map<string, Cost>()
  for (const { work, count, operation } of works) {
    await load(server, clients, Math.ceil(count / 2), operation)
    for (let round = 0; round < rounds; round++) {
      const before = server.cpuMillisByProcess()
      await load(server, clients, count, operation)
      const each = [...server.cpuMillisByProcess()].map(([pid, millis]) => (millis - (before.get(pid) ?? 0)) / count)
      const cost = { sum: each.reduce((sum, one) => sum + one, 0), busiest: Math.max(...each) }
      if (cost.busiest < (costs.get(work)?.busiest ?? Number.POSITIVE_INFINITY)) costs.set(work, cost)
    }
  }
  return costs
}

const millis = (value: number): string => `${value.toFixed(3)} ms`

export const suite: Suite = {
  title: 'Workers',
  about: `\`kubewright up --memory\` with ${clients} clients over HTTP/2 and TLS, in one process and with workers. The clients take more than a core, so that elapsed time says little on a machine with two. The table shows CPU time per request instead: of all processes, and of the busiest one, which limits the throughput when each process has a core. The throughput is computed from it. Best of ${rounds} rounds.`,
  report: async () => {
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'ignore' })
    const lines = [
      '| work | processes | CPU of all | CPU of the busiest | throughput, computed | compared with one process |',
    ]
    lines.push('|---|---|---|---|---|---|')
    const alone = await measure(0)
    let mixed = 0
    for (const workers of [0, 1, 3]) {
      const costs = workers === 0 ? alone : await measure(workers)
      for (const [work, { sum, busiest }] of costs) {
        const gain = alone.get(work)!.busiest / busiest
        if (workers === 1 && work === works.at(-1)!.work) mixed = gain
        const throughput = `${Math.round(1000 / busiest).toLocaleString('en')}/s`
        const cells = [work, workers + 1, millis(sum), millis(busiest), throughput, `${gain.toFixed(2)}×`]
        lines.push(`| ${cells.join(' | ')} |`)
      }
    }
    const verdict = mixed >= 1.7 ? 'met' : 'missed'
    lines.push('', '| figure | result |', '|---|---|')
    lines.push(`| throughput, compared with one process | ${mixed.toFixed(2)}× (target 1.7: ${verdict}) |`)
    return lines
  },
}
