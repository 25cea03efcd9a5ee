import type { Command, CommandContext } from '../command.ts'
import { ClusterSession, clusterFlags, clusterHelp } from '../install/cluster-session.ts'
import { findInstalled, installedKinds, namespaceKind } from '../install/find-installed.ts'
import { lossOf, presentDefinitions, removeDefinition, removeObjectsOf } from '../install/install-definitions.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'

const flags = { ...clusterFlags, 'keep-crds': 'switch' } as const

/** Removes an operator and everything that was installed with it. */
export const undeployCommand: Command = {
  name: 'undeploy',
  summary: 'Remove an operator from the current cluster, CRDs included',
  help: `Usage: kubewright undeploy [ENTRY] [OPTIONS]

Deletes everything that kubewright deploy made from the cluster of the current
kubeconfig. Objects of the operator's CRDs go first, while the operator still
runs and can clean up after them: where there are any, this asks before. ENTRY is
found as by kubewright run.

Options
  --keep-crds        Leave the CRDs and their objects
${clusterHelp}`,
  run: undeploy,
}

async function undeploy(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, flags)
  const { operator } = await describeProject(given, context)
  const session = await ClusterSession.open(values, context)
  try {
    const { client, signal } = session
    const installed = await findInstalled(client, operator.name, installedKinds, signal)
    const namespaces = await findInstalled(client, operator.name, [namespaceKind], signal)
    const definitions = values['keep-crds'] ? [] : await presentDefinitions(session, operator)
    if (installed.length + definitions.length + namespaces.length === 0) {
      session.note('Nothing to do: nothing is deployed')
    }
    const isLoss = definitions.some(({ objects }) => objects > 0)
    if (isLoss && !(await session.confirm(lossOf(definitions)))) {
      session.note('Nothing was changed')
      return 1
    }
    for (const definition of definitions) await removeObjectsOf(session, definition)
    for (const object of installed) await session.remove(object, { wait: false })
    for (const definition of definitions) await removeDefinition(session, definition)
    for (const namespace of namespaces) await session.remove(namespace)
    session.finish()
    return 0
  } finally {
    await session[Symbol.asyncDispose]()
  }
}
