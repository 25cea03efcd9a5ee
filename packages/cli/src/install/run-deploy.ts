import { UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { describeProject } from '../manifests/describe-project.ts'
import { ClusterSession } from './cluster-session.ts'
import type { deployFlags } from './deploy-command.ts'
import { deployObjects } from './deploy-objects.ts'
import { deployedObjects } from './deployed-objects.ts'

/** Installs an operator with all its objects. */
export async function runDeploy(
  { flags, args }: CommandInput<typeof deployFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  if (flags.rollback && !flags.wait)
    throw new UsageError('--rollback needs the result of the deployment: drop --no-wait')
  const project = await describeProject(args.entry, context)
  const { name } = project.operator
  const { image, namespace } = flags
  const { objects, changed } = await deployedObjects(project, { image, namespace })
  if (changed.length > 0) context.note(`Using config/default because you changed ${changed.join(', ')}`)
  return ClusterSession.work(flags, context, (session) =>
    deployObjects(session, name, objects, { rollback: flags.rollback }),
  )
}
