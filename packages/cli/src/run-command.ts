import { inspect } from 'node:util'
import { closestWord, UsageError } from '@kubewright/base'
import { allCommands } from './all-commands.ts'
import type { Command, CommandGroup } from './command/command.ts'
import type { CommandContext } from './command/command-context.ts'
import { commandHelp, groupHelp, overview, secondWord } from './command/command-help.ts'
import { explainError } from './command/explain-error.ts'
import { InterruptedError, interruptedCode } from './terminal/interrupted-error.ts'

/**
 * Runs the command that the arguments name. Resolves to the exit code: 1 for a failure, 2 for a mistake in the arguments, 130 if it was
 * interrupted. Never rejects: every error becomes a line of the standard error.
 */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const columns = context.terminal?.columns
  const isHelp = args[0] === 'help' || args[0] === '--help' || args[0] === '-h'
  const [name, ...rest] = isHelp ? args.slice(1) : args
  if (name === undefined) {
    context.out(overview(allCommands, columns))
    return isHelp ? 0 : 2
  }
  if (name === '--version' || name === 'version') {
    const { kubewrightVersion } = await import('./scaffold/pinned-versions.ts')
    context.out(`kubewright ${kubewrightVersion}`)
    return 0
  }
  const found = allCommands.find((one) => one.name === name)
  if (!found) return fail('kubewright', unknownWord(name, allCommands), context)
  if (!('commands' in found)) return runOrHelp(found, rest, isHelp, context)
  const [word, ...inner] = rest
  const command = found.commands.find((one) => secondWord(one) === word)
  if (command) return runOrHelp(command, inner, isHelp, context)
  if (isHelp || wantsHelp(rest)) {
    context.out(groupHelp(found, columns))
    return 0
  }
  const words = found.commands.map((one) => ({ name: secondWord(one) }))
  const fix = words.map((one) => one.name).join(' or ')
  const mistake = word === undefined ? new UsageError(`COMMAND is missing: give ${fix}`) : unknownWord(word, words)
  return fail(`kubewright ${name}`, mistake, context)
}

/** The error for a word that names no command. */
function unknownWord(word: string, known: readonly Pick<Command | CommandGroup, 'name'>[]): UsageError {
  const meant = closestWord(
    word,
    known.map(({ name }) => name),
  )
  const kind = word.startsWith('-') ? 'flag' : 'command'
  return new UsageError(`unknown ${kind} "${word}"${meant === undefined ? '' : `: did you mean ${meant}?`}`)
}

/** Whether the arguments ask for help. Arguments after two dashes belong to another program. */
function wantsHelp(args: readonly string[]): boolean {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  return own.includes('--help') || own.includes('-h')
}

async function runOrHelp(
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
function fail(who: string, error: unknown, context: CommandContext): number {
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
