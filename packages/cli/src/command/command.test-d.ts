import type { FlagValues } from '@kubewright/base'
import { defineArguments } from './arguments.ts'
import { type CommandInput, defineCommand } from './command.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Expect<T extends true> = T

const args = defineArguments({
  shell: { label: 'SHELL', help: '', choices: ['bash', 'zsh'] },
  entry: { label: 'ENTRY', help: '', optional: true },
  files: { label: 'FILE', help: '', many: true },
})

export type Cases = [
  Expect<
    Equal<
      CommandInput<Record<never, never>, typeof args>['args'],
      {
        readonly shell: 'bash' | 'zsh'
        readonly entry: string | undefined
        readonly files: readonly string[]
      }
    >
  >,
]

defineCommand({
  name: 'paint',
  summary: '',
  description: '',
  args,
  flags: { color: { value: 'COLOR', help: '', choices: ['red', 'blue'], default: 'red' } },
  run: async (input) => {
    const color: 'red' | 'blue' = input.flags.color
    const values: FlagValues<{ color: { value: 'COLOR'; help: ''; choices: ['red', 'blue']; default: 'red' } }> =
      input.flags
    // @ts-expect-error there is no such flag
    input.flags.colour
    return color === values.color ? 0 : 1
  },
})
