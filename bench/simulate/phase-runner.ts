// Measures where the time of a run without faults goes: `phase-runner.ts OPERATOR SECONDS`. Prints the CPU milliseconds of
// each phase as JSON.
import { limitInlining } from '../../packages/cli/src/simulate/limit-inlining.ts'
import { HostGuards } from '../../packages/simulator/src/world/host-guards.ts'
import { Setup } from '../../packages/simulator/src/world/setup.ts'
import { World } from '../../packages/simulator/src/world/world.ts'
import { createWorld, operatorNamed } from './operators.ts'

/** Milliseconds of CPU time per run, by phase. */
export type PhaseFigures = Readonly<Record<string, number>>

const [name = 'home', seconds = '10'] = process.argv.slice(2)
const { make, samples } = operatorNamed(name)
limitInlining()
const setup = await Setup.create(make, { samples, world: createWorld }, [])
const guards = new HostGuards()

let last = 0
const cpuMillis = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measured(seed: number, add: (phase: string, millis: number) => void): Promise<void> {
  const end = (phase: string): void => {
    const now = cpuMillis()
    add(phase, now - last)
    last = now
  }
  last = cpuMillis()
  const schedule = { seed, operations: [], faults: [], replicas: 1 }
  const world = await World.start(setup, schedule, {}, ({ clock, random }) =>
    guards.enter({ clock, wallTime: () => clock.now(), random: random.fork('host'), rejected: () => undefined }),
  )
  end('start of control plane and operator')
  for (const subject of setup.samples.list.keys()) {
    const index = setup.samples.subjects.findIndex(({ sample }) => sample === subject)
    await world.user.perform({ do: 'create', subject: index, variant: 0, after: 0 })
  }
  end('creation of the samples')
  await world.advance(60_000)
  end('first minute: reconciles and roll-out')
  await world.advance(24 * 60_000)
  end('24 minutes at rest')
  await world.objects()
  world.history.hash()
  world.end()
  guards.enter(undefined)
  end('end state')
}

/** Measures runs for the given time, at least one. Returns their number. */
async function repeat(add: (phase: string, millis: number) => void): Promise<number> {
  const end = performance.now() + Number(seconds) * 1000
  let runs = 0
  do await measured(++runs, add)
  while (performance.now() < end)
  return runs
}

await repeat(() => undefined)
const sums: Record<string, number> = {}
const runs = await repeat((phase, millis) => {
  sums[phase] = (sums[phase] ?? 0) + millis
})
const figures = Object.fromEntries(Object.entries(sums).map(([phase, millis]) => [phase, millis / runs]))
process.stdout.write(JSON.stringify(figures))
process.exit(0)
