import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { scaffoldFlags } from './scaffold-flags.ts'

const { yes, ...common } = scaffoldFlags
const unchanged = { defaultText: 'unchanged' } as const

/** The flags of `edit`. */
export const editFlags = defineFlags({
  multigroup: { ...unchanged, help: 'Keep the kinds of each API group in src/GROUP' },
  namespaced: {
    ...unchanged,
    help: 'Restrict the operator to its own namespace; run kubewright generate afterwards',
  },
  owner: { ...unchanged, value: 'NAME', help: 'Name this owner in copyright lines' },
  license: { ...unchanged, value: 'NAME', choices: ['apache2', 'none'], help: 'Use this license: apache2 or none' },
  ...common,
  // There is nothing to ask; scripts may pass it to every command.
  yes: { ...yes, hidden: true },
})

/** `kubewright edit`: changes the settings of a project. */
export const editCommand: Command = defineCommand({
  name: 'edit',
  summary: 'Change the settings of the project',
  description: `
Change the settings of the project in the current folder. Existing kinds stay in their folders, and files that you
changed keep your changes.`,
  flags: editFlags,
  run: async (input, context) => (await import('./run-edit.ts')).runEdit(input, context),
})
