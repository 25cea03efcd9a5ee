import { UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { editFlags } from './edit-command.ts'
import { editProject } from './edit-project.ts'
import { requireProject } from './read-project.ts'
import { writeScaffold } from './write-scaffold.ts'

/** Changes the settings of a project and the files that depend on them. */
export async function runEdit({ flags }: CommandInput<typeof editFlags>, context: CommandContext): Promise<number> {
  const { multigroup, namespaced, owner, license } = flags
  if ([multigroup, namespaced, owner, license].every((value) => value === undefined)) {
    throw new UsageError('nothing to change: give --multigroup, --namespaced, --owner or --license')
  }
  const old = requireProject(folderOf(context))
  const next = editProject(old, { multigroup, namespaced, owner, license })
  const { force, 'dry-run': dryRun, output } = flags
  const plan = writeScaffold({ old, next, force: () => force, dryRun, output }, context)
  if (plan.length === 0) context.note('The project already has these settings')
  if (namespaced !== undefined && !dryRun && plan.length > 0) context.note('Next: npx kubewright generate')
  return 0
}
