import { closestWord, UsageError } from '@kubewright/base'
import { allCommands } from './all-commands.ts'
import type { Command, CommandGroup } from './command/command.ts'
import type { CommandContext } from './command/command-context.ts'
import { groupHelp, overview, secondWord } from './command/command-help.ts'
import { fail, runOrHelp, wantsHelp } from './command/run-or-help.ts'

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
