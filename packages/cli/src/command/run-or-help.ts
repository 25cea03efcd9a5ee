import { inspect } from 'node:util'
import { UsageError } from '@kubewright/base'
import { InterruptedError, interruptedCode } from '../terminal/interrupted-error.ts'
import type { Command } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { commandHelp } from './command-help.ts'
import { explainError } from './explain-error.ts'

/** Whether the arguments ask for help. Arguments after two dashes belong to another program. */
export function wantsHelp(args: readonly string[]): boolean {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  return own.includes('--help') || own.includes('-h')
}

/** Runs a command, or prints its help. Resolves to the exit code. Never rejects. */
export async function runOrHelp(
  command: Command,
  args: readonly string[],
  isHelp: boolean,
  context: CommandContext,
): Promise<number> {
  if (isHelp || wantsHelp(args)) {
    context.out(commandHelp(command, context.terminal?.columns))
    return 0
  }
  try {
    return await runUntilAborted(command, args, context)
  } catch (error) {
    return fail(`kubewright ${command.name}`, error, context)
  } finally {
    context.terminal?.progress?.clear()
  }
}

/** Runs a command. One that does not end by itself when the signal aborts is abandoned. */
async function runUntilAborted(command: Command, args: readonly string[], context: CommandContext): Promise<number> {
  const { signal } = context
  const running = command.run(args, context)
  if (command.endsInOrder) return running
  let stop: () => void = () => undefined
  const interrupted = new Promise<never>((_, reject) => {
    stop = () => reject(new InterruptedError())
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([running, interrupted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Prints why a command failed. Returns the exit code. */
export function fail(who: string, error: unknown, context: CommandContext): number {
  const { note, env, terminal } = context
  terminal?.progress?.clear()
  const paint = terminal?.paintNote ?? ((_, text) => text)
  const isUsage = error instanceof UsageError
  const isInterrupted = error instanceof InterruptedError
  const text = afterColon(isUsage || isInterrupted ? error.message : explainError(error))
  note(`${isInterrupted ? `${who}:` : paint('red', `${who}:`)} ${text}`)
  if (isUsage) note(`See ${who} --help`)
  if (env['KUBEWRIGHT_DEBUG'] && !isInterrupted) note(inspect(error))
  return isInterrupted ? interruptedCode : isUsage ? 2 : 1
}

/** A sentence as it continues after the name of the program: common first words lose their capital, names keep theirs. */
function afterColon(text: string): string {
  return text.replace(
    /^(A|An|Cannot|Neither|No|Nothing|Port|The|There|This|Version)(?= )/,
    (word) => word[0]!.toLowerCase() + word.slice(1),
  )
}
