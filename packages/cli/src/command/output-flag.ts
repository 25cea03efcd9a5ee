import { defineFlags } from '@kubewright/base'

/** The flag of every command that can print its result for programs. */
export const outputFlag = defineFlags({
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['text', 'json'],
    default: 'text',
    help: 'Print the result as text or json',
  },
})
