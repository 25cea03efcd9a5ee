import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Suite } from './harness.ts'
import type { PartFigures } from './simulate/part-runner.ts'

const schedules = 60
const part = fileURLToPath(new URL('simulate/part-runner.ts', import.meta.url))

/** Simulates an operator with a number of processes, and returns a row with the figures of all of them. */
async function row(title: string, name: string, workers: number): Promise<string> {
  const each = Math.ceil(schedules / workers)
  const parts = await Promise.all(
    Array.from({ length: workers }, async (_, index): Promise<PartFigures> => {
      const args = [...process.execArgv, part, name, String(each), `${index}/${workers}`]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      return JSON.parse(stdout) as PartFigures
    }),
  )
  const sum = (pick: (figures: PartFigures) => number): number => parts.reduce((total, one) => total + pick(one), 0)
  const perSecond = sum((one) => (one.schedules * 1000) / one.elapsed)
  const cpu = sum((one) => one.cpu) / sum((one) => one.runs)
  const requests = sum((one) => one.requests) / sum((one) => one.schedules)
  return `| ${title} | ${workers} | ${perSecond.toFixed(1)} | ${cpu.toFixed(0)} ms | ${requests.toFixed(0)} |`
}

export const suite: Suite = {
  title: 'Simulation',
  about: `${schedules} schedules of an operator with their references, after 10 schedules of warm-up, in one and in two processes. A run starts a control plane from a snapshot, performs the operations, and lets 25 minutes of virtual time pass. Home rolls out pods through Deployments, with webhooks; the operator with two controllers is memcached and SecSynch in one process. Schedules per second are elapsed time; the CPU time of a run includes garbage collection and compilation in other threads.`,
  report: async () => {
    const lines = [
      '| operator | processes | schedules per second | CPU time per run | requests per schedule |',
      '|---|---|---|---|---|',
    ]
    for (const [title, name] of [
      ['Home', 'home'],
      ['two controllers', 'two'],
    ] as const) {
      for (const workers of [1, 2]) lines.push(await row(title, name, workers))
    }
    return lines
  },
}
