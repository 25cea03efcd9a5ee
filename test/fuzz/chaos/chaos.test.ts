import { describe, expect, test } from 'vitest'
import { noEtcd } from '../../../packages/storage/src/testdata/etcd-process.ts'
import { fuzzChaos } from './fuzz-chaos.ts'

/** The long version is `npm run fuzz -- chaos --for 10m`. */
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'chaos'

describe('three servers on an etcd of three members, killed under load', () => {
  test('lose no acknowledged write, event or address', { timeout: 600_000 }, async ({ skip }) => {
    if (noEtcd !== undefined) skip(noEtcd)
    const report = await fuzzChaos({ seed, millis: 15_000, killEvery: 2500 })
    expect(report.mistakes, `seed ${seed}`).toEqual([])
    expect(report.acknowledged).toBeGreaterThan(0)
    expect(report.events).toBeGreaterThan(0)
    expect(report.servicesCreated).toBeGreaterThan(0)
  })
})
