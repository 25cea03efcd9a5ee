import type { CommandContext } from './command.ts'
import { commands } from './commands/all-commands.ts'
import { explainError } from './explain-error.ts'
import { UsageError } from './usage-error.ts'

/** Runs the command that the arguments name. Resolves with the exit code: 1 for a failure, 2 for a mistake in the arguments. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    context.out(overview())
    return name === undefined ? 2 : 0
  }
  const found = commands.get(name)
  if (!found) {
    context.note(`kubewright: unknown command "${name}"; see kubewright --help`)
    return 2
  }
  const command = await found.load()
  // What follows two dashes is for somebody else.
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (own.includes('--help') || own.includes('-h')) {
    context.out(command.helpFor?.(rest) ?? command.help)
    return 0
  }
  try {
    return await command.run(rest, context)
  } catch (error) {
    if (error instanceof UsageError) {
      context.note(`kubewright ${name}: ${error.message}; see kubewright ${name} --help`)
      return 2
    }
    context.note(`kubewright ${name}: ${explainError(error)}`)
    return 1
  }
}

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length))
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return ['Usage: kubewright COMMAND [OPTIONS]', '', ...lines, '', 'kubewright COMMAND --help tells more.'].join('\n')
}
