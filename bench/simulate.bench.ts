import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Suite } from './harness.ts'
import type { PartFigures } from './simulate/part-runner.ts'
import type { PhaseFigures } from './simulate/phase-runner.ts'

// A limit of time, so that the suite ends on a slow machine too.
const seconds = 20
const runs = 60

/** Runs a program of this folder in a process of its own, and returns the JSON that it prints. */
async function output<T>(program: string, ...parameters: string[]): Promise<T> {
  const path = fileURLToPath(new URL(`simulate/${program}.ts`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, path, ...parameters])
  return JSON.parse(stdout) as T
}

/** Simulates an operator with a number of processes, and returns a row with the figures of all of them. */
async function row(title: string, name: string, workers: number): Promise<string> {
  const parts = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      output<PartFigures>('part-runner', name, String(seconds), `${index}/${workers}`),
    ),
  )
  const sum = (pick: (figures: PartFigures) => number): number => parts.reduce((total, one) => total + pick(one), 0)
  const perSecond = sum((one) => (one.schedules * 1000) / one.elapsed)
  const cpu = sum((one) => one.cpu) / sum((one) => one.runs)
  const requests = sum((one) => one.requests) / sum((one) => one.schedules)
  return `| ${title} | ${workers} | ${perSecond.toFixed(1)} | ${cpu.toFixed(0)} ms | ${requests.toFixed(0)} |`
}

/** The rows of the phases of a run. */
async function phases(title: string, name: string): Promise<string[]> {
  const figures = Object.entries(await output<PhaseFigures>('phase-runner', name, String(runs)))
  const total = figures.reduce((sum, [, millis]) => sum + millis, 0)
  return [...figures, ['all', total] as const].map(
    ([phase, millis]) => `| ${title} | ${phase} | ${millis.toFixed(1)} ms | ${((millis / total) * 100).toFixed(0)} % |`,
  )
}

const operators = [
  ['Home', 'home'],
  ['two controllers', 'two'],
] as const

export const suite: Suite = {
  title: 'Simulation',
  about: `${seconds} s of schedules of an operator with their references, after 20 schedules of warm-up, in one and in two processes. A run starts a control plane from a snapshot, performs the operations, and lets 25 minutes of virtual time pass. Home rolls out pods through Deployments, with webhooks; the operator with two controllers is memcached and SecSynch in one process. Schedules per second are elapsed time; the CPU time of a run includes garbage collection and compilation in other threads. The second table shows the CPU time of ${runs} runs that create the samples without faults, after as many runs of warm-up.`,
  report: async () => {
    const lines = [
      '| operator | processes | schedules per second | CPU time per run | requests per schedule |',
      '|---|---|---|---|---|',
    ]
    for (const [title, name] of operators) {
      for (const workers of [1, 2]) lines.push(await row(title, name, workers))
    }
    lines.push('', '| operator | phase of a run | CPU time | share |', '|---|---|---|---|')
    for (const [title, name] of operators) lines.push(...(await phases(title, name)))
    return lines
  },
}
