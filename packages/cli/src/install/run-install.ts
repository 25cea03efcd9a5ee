import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { describeProject } from '../manifests/describe-project.ts'
import type { changeFlags } from './change-flags.ts'
import { ClusterSession } from './cluster-session.ts'
import { deployedObjects } from './deployed-objects.ts'
import { applyDefinitions, pruneDefinitions } from './install-definitions.ts'

/** Installs the CRDs of an operator's resources. */
export async function runInstall(
  { flags, args }: CommandInput<typeof changeFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  const project = await describeProject(args.entry, context)
  const { operator } = project
  const { objects } = await deployedObjects(project)
  const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
  return ClusterSession.work(flags, context, async (session) => {
    if (definitions.length === 0) session.note(`${operator.name} defines no resources`)
    await applyDefinitions(session, operator.name, definitions)
    await pruneDefinitions(session, operator.name, definitions)
    for (const { crd, isConverted } of operator.resources) {
      if (!isConverted) continue
      session.note(
        `${crd.metadata.name} needs the operator for conversion: its other versions work once the operator is deployed, or runs with --webhook-url`,
      )
    }
  })
}
