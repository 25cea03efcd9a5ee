import { describe, expect, test } from 'vitest'
import { storedInputs } from '../regressions/regressions.ts'
import { allDecoders } from './all-decoders.ts'
import { fuzzDecoder } from './fuzz-decoder.ts'

/** The long version is `npm run fuzz`. */
const count = 400
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'tests'

describe.each(allDecoders.map((target) => [target.name, target] as const))('The decoder of %s', (name, target) => {
  test('keeps its contract for the stored inputs', () => {
    for (const { file, input } of storedInputs(name)) expect(() => target.check(input), file).not.toThrow()
  })

  test(`keeps its contract for ${count} random inputs`, { timeout: 120_000 }, () => {
    const { failure } = fuzzDecoder(target, { seed, count })
    if (!failure) return
    const input = JSON.stringify(failure.input.toString()).slice(0, 1000)
    throw new Error(`npm run fuzz -- ${name} --seed '${seed}' --size 2000 fails at input ${failure.index}: ${input}`, {
      cause: failure.error,
    })
  })
})
