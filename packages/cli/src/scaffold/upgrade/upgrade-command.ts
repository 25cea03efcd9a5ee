import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../../command/command.ts'
import { outputFlag } from '../../command/output-flag.ts'

/** The flags of `upgrade`. */
export const upgradeFlags = defineFlags({
  'from-version': {
    value: 'VERSION',
    defaultText: 'cliVersion in PROJECT',
    help: 'Merge from the scaffold of this version',
  },
  base: {
    value: 'FOLDER',
    complete: 'folders',
    defaultText: 'written by the old version, which is run with npx if it is not installed',
    help: 'Use these files as the scaffold of the old version',
  },
  force: { default: false, help: 'Upgrade although the project has uncommitted changes' },
  'dry-run': { default: false, help: 'Print the changes as a diff and write nothing' },
  ...outputFlag,
})

/** `kubewright upgrade`: brings the files of a project to the scaffold of this version. */
export const upgradeCommand: Command = defineCommand({
  name: 'upgrade',
  summary: 'Bring the files of the project to this version of Kubewright',
  description: `
Merge the changes between the scaffold of the old version and that of this version into the project in the current folder.
Files that you did not change are replaced, your changes are kept, and lines that both changed are marked like conflicts
of git merge. Run the new version: npx @kubewright/cli@latest upgrade. Exits with 1 if there are conflicts to resolve.`,
  flags: upgradeFlags,
  run: async (input, context) => (await import('./run-upgrade.ts')).runUpgrade(input, context),
})
