import type { Command, CommandContext } from '../command/command.ts'
import { UsageError } from '../usage-error.ts'
import { completionScript, type Shell, shells } from './completion-script.ts'
import { type ListName, listNames, readHelp } from './read-help.ts'

/** Has shells complete what is typed. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'Print a script that has a shell complete commands and flags',
  help: `Usage: kubewright completion SHELL

Prints a script for bash, zsh or fish. To use it in every new shell:
  bash   echo 'source <(kubewright completion bash)' >> ~/.bashrc
  zsh    echo 'source <(kubewright completion zsh)' >> ~/.zshrc
  fish   kubewright completion fish > ~/.config/fish/completions/kubewright.fish

The scripts ask kubewright completion --list NAME for what depends on the folder
and the kubeconfig: ${listNames.join(', ')}.`,
  run: (args, context) => completion(args, context),
}

async function completion(args: readonly string[], { out, env }: CommandContext): Promise<number> {
  const [shell, ...others] = args
  if (shell === '--list') {
    const [name] = others
    const isList = (name: string | undefined): name is ListName => listNames.some((known) => known === name)
    if (!isList(name)) throw new UsageError(`--list needs one of ${listNames.join(', ')}`)
    const { completionValues } = await import('./completion-values.ts')
    for (const value of await completionValues(name, process.cwd(), env)) out(value)
    return 0
  }
  const isShell = (name: string | undefined): name is Shell => shells.some((known) => known === name)
  if (!isShell(shell) || others.length > 0) {
    throw new UsageError(
      shell === undefined
        ? 'name a shell: bash, zsh or fish'
        : `there is bash, zsh and fish, but no "${args.join(' ')}"`,
    )
  }
  // Loaded here, since the list of all commands has this one in it.
  const { commands } = await import('../all-commands.ts')
  const all = await Promise.all([...commands.values()].map(({ load }) => load()))
  const words = await Promise.all(all.map(async (command) => readHelp(command, await command.handedOnHelp?.())))
  out(completionScript(shell, words.flat()).trimEnd())
  return 0
}
