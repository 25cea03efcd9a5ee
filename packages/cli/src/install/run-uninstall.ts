import type { Command, CommandContext } from '../command/command.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'
import { ClusterSession, clusterFlags, clusterHelp } from './cluster-session.ts'
import { uninstallDefinitions } from './deploy-objects.ts'

/** Removes the definitions of an operator's resources. */
export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'Remove the CRDs of an operator, and all their objects',
  help: `Usage: kubewright uninstall [ENTRY] [OPTIONS]

Deletes the CustomResourceDefinitions of the operator that ENTRY exports, and
those that earlier installations made, from the cluster of the current
kubeconfig. All their objects go with them: where there are any, this asks
first. Objects with a clean-up need the operator to run. ENTRY is found as by
kubewright run.

Options
${clusterHelp}`,
  run: uninstall,
}

async function uninstall(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, clusterFlags)
  const { operator } = await describeProject(given, context)
  return ClusterSession.work(values, context, (session) => uninstallDefinitions(session, operator))
}
