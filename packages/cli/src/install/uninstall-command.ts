import { type Command, defineCommand } from '../command/command.ts'
import { entryArgument } from '../entry/entry-argument.ts'
import { changeFlags } from './change-flags.ts'

/** `kubewright uninstall`: removes the CRDs of an operator's resources. */
export const uninstallCommand: Command = defineCommand({
  name: 'uninstall',
  summary: 'Remove the CRDs of an operator and all their objects',
  description: `
Delete the CustomResourceDefinitions of an operator, and those of its earlier installations, from the cluster of the
current kubeconfig. Their objects are deleted with them; ask first if there are any. The operator must run to clean up
objects that have its finalizer.`,
  args: entryArgument,
  flags: changeFlags,
  run: async (input, context) => (await import('./run-uninstall.ts')).runUninstall(input, context),
})
