import { inspect } from 'node:util'
import { closestWord } from '@kubewright/base'
import { commands } from './all-commands.ts'
import type { Command, CommandContext } from './command/command.ts'
import { explainError } from './command/explain-error.ts'
import { InterruptedError } from './terminal/interrupted-error.ts'
import { fittedHelp } from './terminal/terminal.ts'
import { UsageError } from './usage-error.ts'

/** What a command ends with that was interrupted: as if by SIGINT. */
export const interruptedCode = 130

/**
 * Runs the command that the arguments name. Resolves with the exit code: 1 for a failure, 2 for a mistake in the arguments, 130 when
 * it was interrupted.
 */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const isHelp = args[0] === 'help' || args[0] === '--help' || args[0] === '-h'
  const [name, ...rest] = isHelp ? args.slice(1) : args
  if (name === undefined) {
    context.out(fittedHelp(overview(), context.terminal))
    return isHelp ? 0 : 2
  }
  if (name === '--version' || name === 'version') {
    const { kubewrightVersion } = await import('./scaffold/pinned-versions.ts')
    context.out(`kubewright ${kubewrightVersion}`)
    return 0
  }
  const found = commands.get(name)
  if (!found) {
    const meant = closestWord(name, commands.keys())
    const what = name.startsWith('-') ? 'option' : 'command'
    const mistake = `unknown ${what} "${name}"${meant === undefined ? '' : `: did you mean ${meant}?`}`
    return refused('kubewright', new UsageError(mistake), context)
  }
  const command = await found.load()
  // What follows two dashes is for somebody else.
  const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (isHelp || own.includes('--help') || own.includes('-h')) {
    context.out(fittedHelp(command.helpFor?.(rest) ?? command.help, context.terminal))
    return 0
  }
  try {
    return await finished(command, rest, context)
  } catch (error) {
    return refused(`kubewright ${command.nameFor?.(rest) ?? name}`, error, context)
  } finally {
    context.terminal?.progress?.clear()
  }
}

/** Runs a command, and does not wait for one that cannot be expected to notice that it shall end. */
async function finished(command: Command, args: readonly string[], context: CommandContext): Promise<number> {
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

/** Tells why a command did not do what it should. Returns the exit code. */
function refused(who: string, error: unknown, context: CommandContext): number {
  const { note, env, terminal } = context
  terminal?.progress?.clear()
  const paint = terminal?.paintNote ?? ((_, text) => text)
  const isUsage = error instanceof UsageError
  const isInterrupted = error instanceof InterruptedError
  const text = continued(isUsage || isInterrupted ? error.message : explainError(error))
  note(`${isInterrupted ? `${who}:` : paint('red', `${who}:`)} ${text}`)
  if (isUsage) note(`See ${who} --help`)
  if (env['KUBEWRIGHT_DEBUG'] && !isInterrupted) note(inspect(error))
  return isInterrupted ? interruptedCode : isUsage ? 2 : 1
}

/** A sentence that goes on after the name of the program. Names stay as they are written. */
function continued(text: string): string {
  return text.replace(
    /^(A|An|Cannot|Neither|No|Nothing|Port|The|There|This|Version)(?= )/,
    (word) => word[0]!.toLowerCase() + word.slice(1),
  )
}

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length))
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'Usage: kubewright COMMAND [OPTIONS]',
    '',
    ...lines,
    '',
    'kubewright COMMAND --help tells more, kubewright --version which one this is.',
    'Environment: NO_COLOR=1 and FORCE_COLOR=1 turn colours off and on;',
    'KUBEWRIGHT_DEBUG=1 shows where errors come from.',
  ].join('\n')
}
