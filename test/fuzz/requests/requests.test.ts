import { describe, expect, test } from 'vitest'
import { storedRequests } from '../regressions/regressions.ts'
import { fuzzRequests } from './fuzz-requests.ts'

/** The long version is `npm run fuzz -- requests`. */
const count = 10_000
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'random requests'

describe('kubewright up', () => {
  test(`responds correctly to ${count} random requests of three users`, { timeout: 300_000 }, async () => {
    const { failures, statuses, reviewed } = await fuzzRequests({ seed, count, first: storedRequests() })
    expect(failures, `seed ${seed}`).toEqual([])
    expect(statuses.get(200)).toBeGreaterThan(count / 50)
    expect(reviewed).toBeGreaterThan(count / 200)
  })
})
