import { bashScript } from './bash-script.ts'
import type { CompletionWords } from './completion-words.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

/** The shells that there are scripts for. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** A shell that there is a script for. */
export type Shell = (typeof shells)[number]

/**
 * A script that has a shell complete `kubewright`: commands, their second words, flags and the values of both. What depends on the folder
 * and the kubeconfig is asked from the command itself, `kubewright completion --list NAME`, when it is needed.
 */
export function completionScript(shell: Shell, all: readonly CompletionWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(all)
    case 'zsh':
      return zshScript(all)
    case 'fish':
      return fishScript(all)
  }
}
