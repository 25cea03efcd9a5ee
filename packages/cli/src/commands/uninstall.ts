import type { Command, CommandContext } from '../command.ts'
import { ClusterSession, clusterFlags, clusterHelp } from '../install/cluster-session.ts'
import { lossOf, presentDefinitions, removeDefinition } from '../install/install-definitions.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'

/** Removes the definitions of an operator's resources. */
export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: 'Remove the CRDs of an operator, and all their objects',
  help: `Usage: kubewright uninstall [ENTRY] [OPTIONS]

Deletes the CustomResourceDefinitions of the operator that ENTRY exports, and
those that earlier installations made, from the cluster of the current
kubeconfig. All their objects go with them: where there are any, this asks first.
Objects with a clean-up need the operator to run. ENTRY is found as by
kubewright run.

Options
${clusterHelp}`,
  run: uninstall,
}

async function uninstall(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, clusterFlags)
  const { operator } = await describeProject(given, context)
  const session = await ClusterSession.open(values, context)
  try {
    const definitions = await presentDefinitions(session, operator)
    if (definitions.length === 0) session.note('Nothing to do: nothing is installed')
    const isLoss = definitions.some(({ objects }) => objects > 0)
    if (isLoss && !(await session.confirm(lossOf(definitions)))) {
      session.note('Nothing was changed')
      return 1
    }
    for (const definition of definitions) await removeDefinition(session, definition)
    session.finish()
    return 0
  } finally {
    await session[Symbol.asyncDispose]()
  }
}
