// A short simulation of the examples. `kubewright simulate` runs longer ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseManifests } from '@kubewright/api'
import { expect, test } from 'vitest'
import { operator as foo } from '../../examples/foo/src/operator.ts'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as memcached } from '../../examples/memcached/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'
import { explore } from '../../packages/simulator/src/index.ts'

const operators = {
  foo: () => foo,
  home: ({ world }: { readonly world: ReturnType<typeof fakeDns> }) => homeOperator(world),
  memcached: () => memcached,
  'sec-synch': () => secSynch,
}

function samplesOf(example: string): object[] {
  const folder = join(import.meta.dirname, '../../examples', example, 'samples')
  return readdirSync(folder).flatMap((file) => parseManifests(readFileSync(join(folder, file), 'utf8')) as object[])
}

test.each(Object.entries(operators))(
  'explore() finds no failure in the example %s',
  { timeout: 300_000 },
  async (example, make) => {
    const { failure } = await explore(make, { samples: samplesOf(example), world: fakeDns, schedules: 6 })
    expect(failure?.story).toBeUndefined()
  },
)
