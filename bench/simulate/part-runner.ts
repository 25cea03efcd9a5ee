// Simulates one operator in a process of its own: `part-runner.ts OPERATOR SCHEDULES INDEX/OF`. Prints the figures as JSON.
import { readFileSync } from 'node:fs'
import { parseManifests } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { explore, oracleNames } from '@kubewright/simulator'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as memcached } from '../../examples/memcached/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'

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

const samples = (...files: string[]): object[] =>
  files.flatMap(
    (file) => parseManifests(readFileSync(new URL(`../../examples/${file}`, import.meta.url), 'utf8')) as object[],
  )

const two = defineOperator({ name: 'two', controllers: [...memcached.controllers, ...secSynch.controllers] })
const operators = {
  home: {
    make: ({ world }: { readonly world: ReturnType<typeof fakeDns> }) => homeOperator(world),
    samples: samples('home/samples/home-sample.yaml'),
  },
  two: {
    make: () => two,
    samples: samples('memcached/samples/memcached-sample.yaml', 'sec-synch/samples/secsynch-a.yaml'),
  },
}

const [name = 'home', count = '60', part = '0/1'] = process.argv.slice(2)
const operator = operators[name as keyof typeof operators]
const [index = 0, of = 1] = part.split('/').map(Number)

// Without oracles, a failure does not end the measurement.
const run = (schedules: number): ReturnType<typeof explore> =>
  explore(operator.make, {
    samples: operator.samples,
    world: fakeDns,
    without: oracleNames,
    schedules,
    shard: { index, of },
  })

await run(10)
const started = performance.now()
const before = process.cpuUsage()
const { schedules, runs, requests } = await run(Number(count))
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
