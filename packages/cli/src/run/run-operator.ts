import { UsageError } from '@kubewright/base'
import type { CommandInput, NoFlags } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { programArgument } from '../entry/entry-argument.ts'
import { errorLines } from '../entry/error-lines.ts'
import { findProgram } from '../entry/find-entry.ts'
import { type LoadedOperator, loadOperator } from '../entry/load-operator.ts'
import { projectRuntime } from '../entry/project-runtime.ts'
import { InterruptedError } from '../terminal/interrupted-error.ts'
import { noTerminal } from '../terminal/terminal.ts'

/** Runs an operator in this process, with the same behaviour as `node` on its main module. */
export async function runOperator(
  { args, forwarded }: CommandInput<NoFlags, typeof programArgument>,
  context: CommandContext,
): Promise<number> {
  const { clock, note, signal, terminal = noTerminal } = context
  const { paintNote } = terminal
  const entry = await findProgram(args.entry, folderOf(context))
  let loaded: LoadedOperator
  try {
    loaded = await loadOperator(entry, clock)
  } catch (error) {
    if (error instanceof UsageError) throw error
    note(`${paintNote('red', 'kubewright run:')} ${entry.name} cannot be loaded`)
    for (const line of errorLines(error, entry.project)) note(`  ${line}`)
    return 1
  }
  const { operator, options, ended } = loaded
  const runtime = await projectRuntime(entry.file)
  // The runtime listens for signals from here on. One that came while the code was loaded must not be lost.
  if (signal.aborted) throw new InterruptedError()
  const own = runtime.systemRunHost()
  const host = {
    ...own,
    args: forwarded,
    note: (line: string) => {
      // Log lines pass unchanged. The line that ends the program is painted as that of every other command.
      const prefix = `${operator.name}:`
      if (line.startsWith(`${prefix} `)) note(paintNote('red', prefix) + line.slice(prefix.length))
      else own.note(line === `See ${operator.name} --help` ? 'See kubewright run -- --help' : line)
    },
  }
  const code = await runtime.runWith(operator, host, options)
  ended()
  // Timers or sockets of the user's code may keep the process alive, but a failed operator must exit to be restarted.
  if (code !== 0) host.exit(code)
  return code
}
