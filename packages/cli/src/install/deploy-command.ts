import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { entryArgument } from '../entry/entry-argument.ts'
import { imageFlags } from '../manifests/image-flags.ts'
import { changeFlags } from './change-flags.ts'

/** The flags of `deploy`. */
export const deployFlags = defineFlags({
  ...imageFlags,
  rollback: { default: false, help: 'Restore the earlier objects if the operator does not become available' },
  ...changeFlags,
})

/** `kubewright deploy`: installs an operator with all its objects. */
export const deployCommand: Command = defineCommand({
  name: 'deploy',
  summary: 'Deploy an operator and all its objects to the current cluster',
  description: `
Apply all objects of an operator to the cluster of the current kubeconfig: those that kubewright generate writes, or, if
you changed files in config/, those that kubectl kustomize config/default builds. Wait until the CRDs are served and the
operator is available; print its Warning events meanwhile. Remove objects of an earlier deployment that are no longer needed, but ask before removing a CRD
that still has objects.`,
  args: entryArgument,
  flags: deployFlags,
  run: async (input, context) => (await import('./run-deploy.ts')).runDeploy(input, context),
})
