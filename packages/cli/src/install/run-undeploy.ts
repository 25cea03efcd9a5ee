import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { ClusterSession } from './cluster-session.ts'
import { undeployObjects } from './deploy-objects.ts'
import type { undeployFlags } from './undeploy-command.ts'

/** Removes an operator with all its objects. */
export async function runUndeploy(
  { flags, args }: CommandInput<typeof undeployFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  const { operator } = await describeProject(args.entry, context)
  const keepDefinitions = flags['keep-crds']
  return ClusterSession.work(flags, context, (session) => undeployObjects(session, operator, { keepDefinitions }))
}
