import type { Command, CommandContext } from '../command.ts'
import { completionScript, type Shell, shells } from '../completion/completion-script.ts'
import { readHelp } from '../completion/read-help.ts'
import { UsageError } from '../usage-error.ts'

/** Has shells complete what is typed. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'Print a script that has a shell complete commands and flags',
  help: `Usage: kubewright completion SHELL

Prints a script for bash, zsh or fish. To use it in every new shell:
  bash   echo 'source <(kubewright completion bash)' >> ~/.bashrc
  zsh    echo 'source <(kubewright completion zsh)' >> ~/.zshrc
  fish   kubewright completion fish > ~/.config/fish/completions/kubewright.fish`,
  run: (args, context) => completion(args, context),
}

async function completion(args: readonly string[], { out }: CommandContext): Promise<number> {
  const [shell, ...others] = args
  const isShell = (name: string | undefined): name is Shell => shells.some((known) => known === name)
  if (!isShell(shell) || others.length > 0) {
    throw new UsageError(
      shell === undefined
        ? 'name a shell: bash, zsh or fish'
        : `there is bash, zsh and fish, but no "${args.join(' ')}"`,
    )
  }
  // Loaded here, since the list of all commands has this one in it.
  const { commands } = await import('./all-commands.ts')
  const all = await Promise.all([...commands.values()].map(({ load }) => load()))
  out(completionScript(shell, all.flatMap(readHelp)).trimEnd())
  return 0
}
