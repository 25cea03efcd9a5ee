import { runCommand } from './run-command.ts'
import { runInProcess } from './run-in-process.ts'

/** Runs the command that the arguments name, and sets the exit code of the process. `main` is the URL of the program. */
export function runCommandProgram(args: readonly string[], main: string): Promise<void> {
  return runInProcess(main, (context) => runCommand(args, context))
}
