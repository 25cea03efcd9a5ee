import type { Command } from '../command/command.ts'
import { editHelp, runEdit } from './run-edit.ts'
import { systemScaffoldHost } from './scaffold-host.ts'

/** Changes the settings of a project. */
export const editCommand: Command = {
  name: 'edit',
  summary: 'Change the settings of the project',
  help: editHelp,
  run: (args, context) => runEdit(args, context, systemScaffoldHost(context.env, context.signal)),
}
