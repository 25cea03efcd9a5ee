import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'
import { dataFlag } from './data-flag.ts'

/** The flags of `restore`. */
export const restoreFlags = defineFlags({
  ...dataFlag,
  force: { default: false, help: 'Move the files of a folder that is not empty away, into a folder beside it' },
  ...outputFlag,
})

/** The arguments of `restore`. */
export const restoreArguments = defineArguments({
  file: { label: 'FILE', complete: 'files', fix: 'name a file that backup wrote', help: 'The backup to restore' },
})

/** `kubewright restore`: makes the folder of a control plane from a backup. */
export const restoreCommand: Command = defineCommand({
  name: 'restore',
  summary: 'Restore the objects and keys of a control plane from a backup',
  description: `
Verify a backup, then write its objects and keys to a folder for kubewright up. Refuse a damaged backup, a folder that a
running control plane uses, and, without --force, a folder that is not empty.

Objects keep their resource versions. New writes continue 1,000,000,000 above the backup, so that a client that has seen
later versions lists again instead of missing changes.`,
  args: restoreArguments,
  flags: restoreFlags,
  examples: ['restore today.backup', 'restore today.backup --data /var/lib/kubewright --force'],
  run: async (input, context) => (await import('./run-restore.ts')).runRestore(input, context),
})
