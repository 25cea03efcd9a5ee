// Simulates one operator in a process of its own: `part-runner.ts OPERATOR SECONDS INDEX/OF`. Prints the figures as JSON.
import { builtinOracles, explore, type SimulateOptions } from '@kubewright/simulator'
import { limitInlining } from '../../packages/cli/src/simulate/limit-inlining.ts'
import { createWorld, operatorNamed } from './operators.ts'

/** The figures of one process. */
export interface PartFigures {
  readonly schedules: number
  readonly runs: number
  readonly requests: number
  /** Elapsed milliseconds. */
  readonly elapsed: number
  /** Milliseconds of CPU time, including garbage collection and compilation in other threads. */
  readonly cpu: number
}

const [name = 'home', seconds = '20', part = '0/1'] = process.argv.slice(2)
const { make, samples } = operatorNamed(name)
const [index = 0, of = 1] = part.split('/').map(Number)

// As in the processes of `kubewright simulate`.
limitInlining()

// Without oracles, a failure does not end the measurement.
const run = (budget: Pick<SimulateOptions, 'schedules' | 'for'>): ReturnType<typeof explore> =>
  explore(make, {
    samples,
    world: createWorld,
    without: builtinOracles.map((oracle) => oracle.name),
    shard: { index, of },
    ...budget,
  })

await run({ for: `${Math.ceil(Number(seconds) / 3)}s` })
const started = performance.now()
const before = process.cpuUsage()
const { schedules, runs, requests } = await run({ for: `${Number(seconds)}s` })
const { user, system } = process.cpuUsage(before)
const figures: PartFigures = {
  schedules,
  runs,
  requests,
  elapsed: performance.now() - started,
  cpu: (user + system) / 1000,
}
process.stdout.write(JSON.stringify(figures))
process.exit(0)
