import { type Command, defineCommand } from '../command/command.ts'
import { entryArgument } from '../entry/entry-argument.ts'
import { changeFlags } from './change-flags.ts'

/** `kubewright install`: installs the CRDs of an operator's resources. */
export const installCommand: Command = defineCommand({
  name: 'install',
  summary: 'Install the CRDs of an operator in the current cluster',
  description: `
Apply the CustomResourceDefinitions of an operator to the cluster of the current kubeconfig, and wait until they are
served. Remove CRDs of an earlier installation that the operator no longer defines, but ask before removing one that
still has objects.`,
  args: entryArgument,
  flags: changeFlags,
  run: async (input, context) => (await import('./run-install.ts')).runInstall(input, context),
})
