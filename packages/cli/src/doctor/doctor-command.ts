import { defineFlags } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'
import { entryArgument } from '../entry/entry-argument.ts'

/** The flags of `doctor`. */
export const doctorFlags = defineFlags({ ...connectionFlags, ...outputFlag })

/** `kubewright doctor`: checks whether an operator can run. */
export const doctorCommand: Command = defineCommand({
  name: 'doctor',
  summary: 'Check whether an operator can run, and name the fix if not',
  description: `
Run these checks, and name the fix for each failure:
  Node          its version, and its support for TypeScript
  Kubeconfig    a usable kubeconfig exists
  Cluster       the API server answers; shows the user
  Operator      the code loads
  CRDs          the CRDs are installed and equal to those of the code
  Permissions   the user of the kubeconfig has the permissions of the operator
  Webhooks      their servers exist and their certificates are valid

Outside a project, the checks of the operator are skipped; without a kubeconfig, those
of the cluster. A kubeconfig or context that you name must exist.

Exits with 0 if no check failed, 1 if one did, and 2 for a mistake in the arguments.`,
  args: entryArgument,
  flags: doctorFlags,
  run: async (input, context) => (await import('./run-doctor.ts')).runDoctor(input, context),
})
