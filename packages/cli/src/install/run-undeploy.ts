import type { Command, CommandContext } from '../command/command.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'
import { ClusterSession, clusterFlags, clusterHelp } from './cluster-session.ts'
import { undeployObjects } from './deploy-objects.ts'

const flags = { ...clusterFlags, 'keep-crds': 'switch' } as const

/** Removes an operator and everything that was installed with it. */
export const undeployCommand: Command = {
  name: 'undeploy',
  summary: 'Remove an operator from the current cluster, CRDs included',
  help: `Usage: kubewright undeploy [ENTRY] [OPTIONS]

Deletes everything that kubewright deploy made from the cluster of the current
kubeconfig. Objects of the operator's CRDs go first, while the operator still
runs and can clean up after them: where there are any, this asks before. ENTRY
is found as by kubewright run.

Options
  --keep-crds        Leave the CRDs and their objects
${clusterHelp}`,
  run: undeploy,
}

async function undeploy(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, flags)
  const { operator } = await describeProject(given, context)
  const keepDefinitions = values['keep-crds']
  return ClusterSession.work(values, context, (session) => undeployObjects(session, operator, { keepDefinitions }))
}
