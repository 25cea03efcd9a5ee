import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, type CommandGroup, defineCommand } from '../command/command.ts'
import { shells } from './completion-script.ts'
import { listNames } from './completion-words.ts'

/** The flags of `completion`. */
export const completionFlags = defineFlags({
  list: { value: 'NAME', hidden: true, choices: listNames, help: 'Print a list for the scripts' },
})

/** The arguments of `completion`. */
export const completionArguments = defineArguments({
  shell: { label: 'SHELL', optional: true, choices: shells, help: 'bash, zsh or fish' },
})

/** `kubewright completion`: prints a completion script. `all` returns the commands to complete. */
export function completionCommand(all: () => readonly (Command | CommandGroup)[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Print a completion script for a shell',
    description: `
Print a script that completes commands, flags and their values. To use it in every new shell:
  bash   echo 'source <(kubewright completion bash)' >> ~/.bashrc
  zsh    echo 'source <(kubewright completion zsh)' >> ~/.zshrc
  fish   kubewright completion fish > ~/.config/fish/completions/kubewright.fish`,
    usage: ['SHELL'],
    args: completionArguments,
    flags: completionFlags,
    run: async (input, context) => (await import('./run-completion.ts')).runCompletion(input, context, all()),
  })
}
