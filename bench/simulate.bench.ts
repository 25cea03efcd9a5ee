import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundlePrograms } from './bundle-programs.ts'
import type { Suite } from './harness.ts'
import type { PartFigures } from './simulate/part-runner.ts'
import type { PhaseFigures } from './simulate/phase-runner.ts'

// Every step has a limit of elapsed time, so that the suite ends within minutes on a busy machine too.
const seconds = 15
const phaseSeconds = 10

const folder = join(import.meta.dirname, 'simulate')

/** Runs a bundled program in a process of its own, and returns the JSON that it prints. */
async function output<T>(path: string, ...parameters: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...parameters])
  return JSON.parse(stdout) as T
}

/** Simulates an operator with a number of processes, and returns a row with the figures of all of them. */
async function row(out: string, title: string, name: string, workers: number): Promise<string> {
  const parts = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      output<PartFigures>(join(out, 'part-runner.mjs'), name, String(seconds), `${index}/${workers}`),
    ),
  )
  const sum = (pick: (figures: PartFigures) => number): number => parts.reduce((total, one) => total + pick(one), 0)
  const schedules = sum((one) => one.schedules)
  const perSecond = sum((one) => (one.schedules * 1000) / one.elapsed)
  const cpu = sum((one) => one.cpu)
  const runs = sum((one) => one.runs)
  const requests = sum((one) => one.requests) / schedules
  const figures = [perSecond.toFixed(1), `${(cpu / schedules).toFixed(0)} ms`, `${(cpu / runs).toFixed(0)} ms`]
  return `| ${[title, workers, ...figures, (runs / schedules).toFixed(2), requests.toFixed(0)].join(' | ')} |`
}

/** The rows of the phases of a run. */
async function phases(out: string, title: string, name: string): Promise<string[]> {
  const figures = Object.entries(await output<PhaseFigures>(join(out, 'phase-runner.mjs'), name, String(phaseSeconds)))
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
  about: `${seconds} s of schedules of an operator with their references, after a third of that time of warm-up, in one and in two processes. The programs are bundled, as the packages are published. A run starts a control plane from a snapshot, performs the operations, and lets 25 minutes of virtual time pass. Home rolls out pods through Deployments, with webhooks; the operator with two controllers is memcached and SecSynch in one process. Schedules per second are elapsed time, which depends on the other load of the machine; CPU time includes garbage collection and compilation in other threads. The second table shows the CPU time of runs that create the samples without faults, for ${phaseSeconds} s after as long a warm-up.`,
  report: async () => {
    // Two levels below the root, as the sources: the programs read the samples of the examples.
    const out = mkdtempSync(join(import.meta.dirname, '..', 'node_modules', '.bench-simulate-'))
    try {
      await bundlePrograms(folder, ['part-runner', 'phase-runner'], out)
      return await tables(out)
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
  },
}

async function tables(out: string): Promise<string[]> {
  const lines: string[] = []
  // Shown as they come: the suite prints its lines at the end.
  const add = (line: string): void => {
    lines.push(line)
    console.error(line)
  }
  add('| operator | processes | schedules per second | CPU per schedule | CPU per run | runs per schedule | requests |')
  add('|---|---|---|---|---|---|---|')
  for (const [title, name] of operators) {
    for (const workers of [1, 2]) add(await row(out, title, name, workers))
  }
  add('')
  add('| operator | phase of a run | CPU time | share |')
  add('|---|---|---|---|')
  for (const [title, name] of operators) for (const line of await phases(out, title, name)) add(line)
  return lines
}
