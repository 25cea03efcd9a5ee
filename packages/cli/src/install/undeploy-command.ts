import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { entryArgument } from '../entry/entry-argument.ts'
import { changeFlags } from './change-flags.ts'

/** The flags of `undeploy`. */
export const undeployFlags = defineFlags({
  'keep-crds': { default: false, help: 'Keep the CRDs and their objects' },
  ...changeFlags,
})

/** `kubewright undeploy`: removes an operator with all its objects. */
export const undeployCommand: Command = defineCommand({
  name: 'undeploy',
  summary: 'Remove an operator from the current cluster, including its CRDs',
  description: `
Delete all objects that kubewright deploy created from the cluster of the current kubeconfig. Delete the objects of the
operator's CRDs first, while the operator still runs and can clean up after them; ask before if there are any.`,
  args: entryArgument,
  flags: undeployFlags,
  run: async (input, context) => (await import('./run-undeploy.ts')).runUndeploy(input, context),
})
