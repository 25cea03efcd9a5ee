// The operators whose simulation is measured, with their samples.
import { readFileSync } from 'node:fs'
import { parseManifests } from '@kubewright/api'
import { defineOperator, type Operator } from '@kubewright/runtime'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as memcached } from '../../examples/memcached/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'

type Dns = ReturnType<typeof fakeDns>

/** An operator to measure. Its world is that of {@link createWorld}. */
export interface MeasuredOperator {
  readonly make: (parts: { readonly world: Dns }) => Operator
  readonly samples: readonly object[]
}

export const createWorld: () => Dns = fakeDns

const samples = (...files: string[]): object[] =>
  files.flatMap(
    (file) => parseManifests(readFileSync(new URL(`../../examples/${file}`, import.meta.url), 'utf8')) as object[],
  )

const two = defineOperator({ name: 'two', controllers: [...memcached.controllers, ...secSynch.controllers] })
const operators: Readonly<Record<string, MeasuredOperator>> = {
  home: {
    make: ({ world }) => homeOperator(world),
    samples: samples('home/samples/home-sample.yaml'),
  },
  two: {
    make: () => two,
    samples: samples('memcached/samples/memcached-sample.yaml', 'sec-synch/samples/secsynch-a.yaml'),
  },
}

/** The operator of a name on the command line. */
export function operatorNamed(name: string): MeasuredOperator {
  const found = operators[name]
  if (found === undefined) throw new RangeError(`Unknown operator ${name}: use ${Object.keys(operators).join(' or ')}`)
  return found
}
