import type { Command } from '../command/command.ts'
import { initHelp, runInit } from './run-init.ts'
import { systemScaffoldHost } from './scaffold-host.ts'

/** Makes a project in the current folder. */
export const initCommand: Command = {
  name: 'init',
  summary: 'Make a project for an operator in this folder',
  help: initHelp,
  run: (args, context) => runInit(args, context, systemScaffoldHost(context.env, context.signal)),
}
