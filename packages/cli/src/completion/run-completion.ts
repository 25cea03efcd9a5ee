import { UsageError } from '@kubewright/base'
import type { Command, CommandGroup, CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { completionArguments, completionFlags } from './completion-command.ts'
import { completionScript } from './completion-script.ts'
import { completionValues } from './completion-values.ts'
import { completionWords } from './completion-words.ts'

/** Prints a completion script, or one of the lists that the scripts need. */
export async function runCompletion(
  { flags, args }: CommandInput<typeof completionFlags, typeof completionArguments>,
  context: CommandContext,
  all: readonly (Command | CommandGroup)[],
): Promise<number> {
  const { out, env } = context
  if (flags.list !== undefined) {
    for (const value of await completionValues(flags.list, folderOf(context), env)) out(value)
    return 0
  }
  if (args.shell === undefined) throw new UsageError('SHELL is missing: name bash, zsh or fish')
  const words = await Promise.all(all.map(completionWords))
  out(completionScript(args.shell, words.flat()).trimEnd())
  return 0
}
