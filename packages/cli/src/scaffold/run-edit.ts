import type { CommandContext } from '../command/command.ts'
import { UsageError } from '../usage-error.ts'
import { carryOut } from './carry-out.ts'
import { editProject } from './edit-project.ts'
import { needProject } from './need-project.ts'
import { commonFlags, readFlags } from './read-flags.ts'
import type { ScaffoldHost } from './scaffold-host.ts'

/** The help of `edit`. */
export const editHelp: string = `Usage: kubewright edit [OPTIONS]

Changes the settings of the project in the current folder. Kinds that are there
stay where they are; files that you changed keep your changes.

Options
  --multigroup[=false]  Whether kinds of several groups are kept apart, in
                        src/GROUP
  --namespaced[=false]  Whether the operator works in its own namespace only:
                        run kubewright generate afterwards
  --owner NAME          Who the copyright lines name
  --license WHICH       apache2 or none
  --force               Replace files that you changed, where settings show
  --dry-run             Show what would be written as a diff, write nothing
  --output json         List what was written for programs`

const editFlags = {
  ...commonFlags,
  multigroup: 'switch',
  namespaced: 'switch',
  owner: 'text',
  license: 'text',
} as const

/** Carries out `edit`. */
export async function runEdit(args: readonly string[], context: CommandContext, host: ScaffoldHost): Promise<number> {
  const flags = readFlags(args, editFlags)
  const { multigroup, namespaced, owner, license } = flags
  if ([multigroup, namespaced, owner, license].every((value) => value === undefined)) {
    throw new UsageError('say what to change: --multigroup, --namespaced, --owner or --license')
  }
  const old = needProject(host.folder)
  const next = editProject(old, { multigroup, namespaced, owner, license })
  const { force = false, 'dry-run': dryRun, output } = flags
  const plan = carryOut({ old, next, force: () => force, dryRun, output }, host, context)
  if (plan.length === 0) context.note('The project is like that already')
  if (namespaced !== undefined && !dryRun && plan.length > 0) context.note('Next: npx kubewright generate')
  return 0
}
