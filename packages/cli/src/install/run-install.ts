import type { Command, CommandContext } from '../command/command.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { definitionsOf } from '../manifests/install-objects.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'
import { ClusterSession, clusterFlags, clusterHelp } from './cluster-session.ts'
import { applyDefinitions, pruneDefinitions } from './install-definitions.ts'

/** Installs the definitions of an operator's resources. */
export const installCommand: Command = {
  name: 'install',
  summary: 'Install the CRDs of an operator in the current cluster',
  help: `Usage: kubewright install [ENTRY] [OPTIONS]

Applies the CustomResourceDefinitions of the operator that ENTRY exports to the
cluster of the current kubeconfig, and waits until they are served. Definitions
of an earlier installation that the operator does not have any more are removed;
those that still have objects only after a question, or with --yes. ENTRY is
found as by kubewright run.

Options
${clusterHelp}`,
  run: install,
}

async function install(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, clusterFlags)
  const { operator, facts } = await describeProject(given, context)
  const definitions = definitionsOf(operator, facts.chosen)
  return ClusterSession.work(values, context, async (session) => {
    if (definitions.length === 0) session.note(`${operator.name} has no resources of its own`)
    await applyDefinitions(session, operator.name, definitions)
    await pruneDefinitions(session, operator.name, definitions)
    for (const { crd, isConverted } of operator.resources) {
      if (!isConverted) continue
      session.note(
        `${crd.metadata.name} is converted by the operator: its other versions work when that is deployed, or runs with --webhook-url`,
      )
    }
  })
}
