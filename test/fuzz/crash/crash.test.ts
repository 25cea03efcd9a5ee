import { describe, expect, test } from 'vitest'
import { noEtcd } from '../../../packages/storage/src/testdata/etcd-process.ts'
import { fuzzCrashes } from './fuzz-crashes.ts'

/** The long version is `npm run fuzz -- crash`. */
const cycles = 2
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'crashes'

describe('kubewright up, killed under load', () => {
  test.for([
    ['a folder', false],
    ['etcd', true],
  ] as const)('keeps acknowledged writes and watch events in %s', { timeout: 180_000 }, async ([, etcd], { skip }) => {
    if (etcd && noEtcd !== undefined) skip(noEtcd)
    const { mistakes, acknowledged, events } = await fuzzCrashes({ seed, cycles, etcd })
    expect(mistakes, `seed ${seed}`).toEqual([])
    expect(acknowledged).toBeGreaterThan(0)
    expect(events).toBeGreaterThan(0)
  })
})
