import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KubewrightError, UsageError } from '@kubewright/base'
import {
  explore,
  type FaultClass,
  faultClasses,
  reportPage,
  type SimulateOptions,
  type SimulationFailure,
  type SimulationReport,
} from '@kubewright/simulator'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { releaseOf } from '../command/kubernetes-flag.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { findEntry } from '../entry/find-entry.ts'
import { loadOperator } from '../entry/load-operator.ts'
import { readManifests } from '../input/read-manifests.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { limitInlining } from './limit-inlining.ts'
import type { simulateFlags } from './simulate-command.ts'

type Input = CommandInput<typeof simulateFlags, typeof entryArgument>

/** Simulates an operator and prints the report. */
export async function runSimulate(input: Input, context: CommandContext): Promise<number> {
  limitInlining()
  const { flags, args } = input
  await releaseOf(flags.kubernetes)
  const { out, note, clock, terminal = noTerminal } = context
  const entry = await findEntry(args.entry, folderOf(context))
  const { operator } = await loadOperator(entry, clock)
  const part = partOf(flags.part)
  const share = flags.replay === undefined && !flags.inspect && part === undefined ? flags.workers : 1
  if (flags.inspect && part === undefined) await waitForDebugger(note)
  const options: SimulateOptions = {
    inspect: flags.inspect,
    samples: await samplesOf(flags.samples, entry.project, folderOf(context)),
    seed: flags.seed,
    kubernetes: flags.kubernetes,
    replay: flags.replay,
    record: flags.recording !== undefined,
    regressions: flags.regressions,
    faults: faultsOf(flags.faults),
    for: flags.for as SimulateOptions['for'],
    schedules: schedulesOf(flags, part?.of ?? share),
    shard: part ?? { index: 0, of: share },
    onProgress: ({ schedules, of }) => {
      terminal.progress?.show(
        `Simulating ${operator.name}: ${schedules}${of === undefined ? '' : ` of ${of}`} schedules`,
      )
    },
  }
  const others = Array.from({ length: share - 1 }, (_, index) => inProcess(index + 1, share))
  const reports = await Promise.all([explore(operator, options), ...others]).finally(() => terminal.progress?.clear())
  const report = merged(reports)
  if (flags.report !== undefined) {
    writeFileSync(resolve(folderOf(context), flags.report), reportPage(`Simulation of ${operator.name}`, report))
  }
  if (flags.recording !== undefined && part === undefined && report.failure !== undefined) {
    await writeRecording(resolve(folderOf(context), flags.recording), operator.name, report.failure)
    note(`Recording of the failure: kubewright console ${flags.recording}`)
  }
  if (flags.output === 'json') out(JSON.stringify(report, null, 2))
  else print(operator.name, report, out, note)
  return report.failure === undefined ? 0 : 1
}

async function writeRecording(file: string, operator: string, failure: SimulationFailure): Promise<void> {
  const { recordStory } = await import('@kubewright/console')
  const { startedAt, states = [], timeline: steps } = failure
  writeFileSync(file, await recordStory({ name: `simulation of ${operator}`, startedAt, states, steps }))
}

/** Opens the inspector of this process, unless it is open, and waits for a debugger. */
async function waitForDebugger(note: (line: string) => void): Promise<void> {
  const inspector = await import('node:inspector')
  if (inspector.url() === undefined) inspector.open(0, '127.0.0.1')
  note(`Attach a debugger to ${inspector.url()}: in Chrome, open chrome://inspect; in VS Code, attach to the port`)
  inspector.waitForDebugger()
}

/** The number of schedules of one process. Without `--schedules` and `--for`, all processes together run 500. */
function schedulesOf({ schedules, for: duration }: Input['flags'], processes: number): number | undefined {
  const all = schedules ?? (duration === undefined ? 500 : undefined)
  return all === undefined ? undefined : Math.ceil(all / processes)
}

function partOf(text: string | undefined): { readonly index: number; readonly of: number } | undefined {
  if (text === undefined) return undefined
  const [index = 0, of = 1] = text.split('/').map(Number)
  return { index, of }
}

function faultsOf(text: string | undefined): readonly FaultClass[] | undefined {
  if (text === undefined) return undefined
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !(faultClasses as readonly string[]).includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`--faults: unknown class ${JSON.stringify(unknown)}: use ${faultClasses.join(', ')}`)
  }
  return names as FaultClass[]
}

/** The samples of the flag, or those of the project. */
async function samplesOf(given: string | undefined, project: string, folder: string): Promise<readonly object[]> {
  const places =
    given === undefined ? ['config/samples', 'samples'].map((name) => join(project, name)) : [resolve(folder, given)]
  const found = given === undefined ? places.find((place) => existsSync(place)) : places[0]
  if (found === undefined) return []
  const documents = await readManifests([found])
  return documents.flatMap(({ value }) => (typeof value === 'object' && value !== null ? [value] : []))
}

/** Explores one part in another process, with the arguments of this one. */
function inProcess(index: number, of: number): Promise<SimulationReport> {
  const [program = '', ...args] = process.argv.slice(1)
  const child = spawn(
    process.execPath,
    [...process.execArgv, program, ...args, '--output=json', `--part=${index}/${of}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  return new Promise((done, failed) => {
    child.on('error', failed)
    child.on('close', (code) => {
      try {
        done(JSON.parse(text) as SimulationReport)
      } catch (cause) {
        failed(
          new KubewrightError('KW_COMMAND', `A worker of the simulation has failed with exit code ${code}`, { cause }),
        )
      }
    })
  })
}

/** One report of all parts, with the failure that has the fewest faults. */
function merged(reports: readonly SimulationReport[]): SimulationReport {
  const [first, ...rest] = reports as [SimulationReport, ...SimulationReport[]]
  if (rest.length === 0) return first
  const sum = (pick: (report: SimulationReport) => number): number =>
    reports.reduce((total, report) => total + pick(report), 0)
  const counts = (pick: (report: SimulationReport) => Readonly<Record<string, number>>): Record<string, number> => {
    const total: Record<string, number> = {}
    for (const report of reports) {
      for (const [name, value] of Object.entries(pick(report))) total[name] = (total[name] ?? 0) + value
    }
    return total
  }
  const failures = reports.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
  return {
    ...first,
    schedules: sum(({ schedules }) => schedules),
    runs: sum(({ runs }) => runs),
    requests: sum(({ requests }) => requests),
    points: { tried: sum(({ points }) => points.tried), known: sum(({ points }) => points.known) },
    depths: first.depths.map((_, index) => sum(({ depths }) => depths[index]!)) as unknown as typeof first.depths,
    states: Math.max(...reports.map(({ states }) => states)),
    faults: counts(({ faults }) => faults),
    operations: counts(({ operations }) => operations),
    hash: reports.map(({ hash }) => hash).join(' '),
    nondeterminism: [...new Set(reports.flatMap(({ nondeterminism }) => nondeterminism))],
    warnings: [...new Set(reports.flatMap(({ warnings }) => warnings))],
    failure: failures.sort((a, b) => a.faults - b.faults || a.operations - b.operations)[0],
  }
}

function print(
  name: string,
  report: SimulationReport,
  out: (line: string) => void,
  note: (line: string) => void,
): void {
  const { failure, faults, operations } = report
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ') || 'none'
  for (const use of report.nondeterminism) {
    const isReal = use.endsWith('(real, not simulated)')
    note(
      isReal
        ? `The operator uses the outside world directly: ${use}`
        : `The operator uses real time or randomness, which was simulated: ${use}`,
    )
  }
  if (failure !== undefined) out(failure.story)
  else out(`${name}: no failure in ${report.schedules} schedules`)
  for (const warning of report.warnings) note(`Warning: ${warning}`)
  note(`Schedules: ${report.schedules} (${report.runs} runs), states: ${report.states}, seed: ${report.seed}`)
  const [none, one, two, more] = report.depths
  note(`Faults per schedule: none ${none}, one ${one}, two ${two}, more ${more}`)
  note(`Single faults at every action: ${report.points.tried} of ${report.points.known} tried`)
  note(`Operations: ${list(operations)}`)
  note(`Faults: ${list(faults)}`)
}
