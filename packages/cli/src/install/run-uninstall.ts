import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { describeProject } from '../manifests/describe-project.ts'
import type { changeFlags } from './change-flags.ts'
import { ClusterSession } from './cluster-session.ts'
import { uninstallDefinitions } from './deploy-objects.ts'

/** Removes the CRDs of an operator's resources, with their objects. */
export async function runUninstall(
  { flags, args }: CommandInput<typeof changeFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  const { operator } = await describeProject(args.entry, context)
  return ClusterSession.work(flags, context, (session) => uninstallDefinitions(session, operator))
}
