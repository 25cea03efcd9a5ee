import type { CommandContext } from './command/command-context.ts'
import { systemContext } from './system-context.ts'
import { interruptedCode } from './terminal/interrupted-error.ts'

/** Runs a command in the context of this process, and sets its exit code. `main` is the URL of the program. */
export async function runInProcess(main: string, run: (context: CommandContext) => Promise<number>): Promise<void> {
  const context = systemContext(main)
  const code = await run(context)
  // An abandoned command must not keep the process alive.
  if (code === interruptedCode) context.exitInterrupted()
  process.exitCode = code
}
