import { bashScript } from './bash-script.ts'
import type { CompletionWords } from './completion-words.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

/** The supported shells. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** A supported shell. */
export type Shell = (typeof shells)[number]

/**
 * A script with which a shell completes `kubewright`: commands, flags, arguments and their values. For values that depend on the folder or
 * the kubeconfig, the script calls `kubewright completion --list NAME`.
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
