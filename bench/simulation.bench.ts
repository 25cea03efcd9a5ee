import { readFileSync } from 'node:fs'
import { parseManifests } from '@kubewright/api'
import { explore } from '@kubewright/simulator'
import { fakeDns } from '../examples/home/src/dns.ts'
import { homeOperator } from '../examples/home/src/operator.ts'
import { operator as secSynch } from '../examples/sec-synch/src/operator.ts'
import type { Suite } from './harness.ts'

const schedules = 60

const samples = (file: string): object[] =>
  parseManifests(readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8')) as object[]

/** Runs a simulation and returns a row with the CPU time of its runs. */
async function row(title: string, simulate: (schedules: number) => ReturnType<typeof explore>): Promise<string> {
  await simulate(5)
  const before = process.cpuUsage()
  const { runs, requests } = await simulate(schedules)
  const { user, system } = process.cpuUsage(before)
  const millis = (user + system) / 1000
  return `| ${title} | ${(millis / runs).toFixed(0)} ms | ${((runs * 1000) / millis).toFixed(1)} | ${(requests / schedules).toFixed(0)} |`
}

export const suite: Suite = {
  title: 'Simulation',
  about: `${schedules} schedules of an example with its references, on one core. A run starts a control plane from a snapshot, performs the operations, and lets 25 minutes of virtual time pass. Home rolls out pods through Deployments; SecSynch copies Secrets.`,
  report: async () => [
    '| operator | CPU time per run | runs per second and core | requests per schedule |',
    '|---|---|---|---|',
    await row('Home', (count) =>
      explore(({ world }) => homeOperator(world), {
        samples: samples('home/samples/home-sample.yaml'),
        world: fakeDns,
        schedules: count,
      }),
    ),
    await row('SecSynch', (count) =>
      explore(secSynch, { samples: samples('sec-synch/samples/secsynch-a.yaml'), schedules: count }),
    ),
  ],
}
