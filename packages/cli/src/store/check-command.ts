import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'

/** The flags of `check`. */
export const checkFlags = defineFlags({
  repair: {
    default: false,
    help: 'Rebuild a damaged store from the parts that are provably complete, list the lost ones, and keep the old files beside it',
  },
  ...outputFlag,
})

/** The arguments of `check`. */
export const checkArguments = defineArguments({
  path: {
    label: 'PATH',
    optional: true,
    complete: 'files',
    help: 'The folder of a control plane, as given to up --data, or a backup (default: .kubewright/data)',
  },
})

/** `kubewright check`: verifies the stored objects of a control plane. */
export const checkCommand: Command = defineCommand({
  name: 'check',
  summary: 'Verify the stored objects of a control plane, or a backup',
  description: `
Verify the checksums of all files, the order of keys and resource versions, that each record fits the ones before it, and
that each object can be decoded and has the name of its key. Warn about objects in missing namespaces, missing owners
and repeated UIDs. Change nothing; the control plane may be running.

Exits with 0 if nothing is damaged, 1 if something is, and 2 for a mistake in the arguments. With --repair, exits with 0
if the store was rebuilt; the control plane must not be running.`,
  args: checkArguments,
  flags: checkFlags,
  examples: ['check', 'check /var/lib/kubewright --repair', 'check today.backup'],
  run: async (input, context) => (await import('./run-check.ts')).runCheck(input, context),
})
