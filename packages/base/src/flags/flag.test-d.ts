import { expectTypeOf } from 'vitest'
import { defineFlags, type FlagValues } from './flag.ts'
import { integerFrom } from './parse-flags.ts'

const table = defineFlags({
  text: { value: 'TEXT', help: '' },
  filled: { value: 'TEXT', help: '', default: 'x' },
  choice: { value: 'WHICH', help: '', choices: ['a', 'b'], default: 'a' },
  number: { value: 'N', help: '', parse: integerFrom(0, 9) },
  list: { value: 'FILE', help: '', repeatable: true },
  on: { help: '', default: false },
  maybe: { help: '' },
})

expectTypeOf<FlagValues<typeof table>>().toEqualTypeOf<{
  readonly text: string | undefined
  readonly filled: string
  readonly choice: 'a' | 'b'
  readonly number: number | undefined
  readonly list: readonly string[]
  readonly on: boolean
  readonly maybe: boolean | undefined
}>()

// @ts-expect-error a flag needs a help text
defineFlags({ silent: { value: 'TEXT' } })
