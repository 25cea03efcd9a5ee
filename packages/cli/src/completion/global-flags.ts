import type { HelpFlag, HelpWords } from './read-help.ts'

/** What can be typed instead of a command. */
export const globalFlags: readonly HelpFlag[] = [
  { name: 'help', short: 'h', text: 'List the commands' },
  { name: 'version', text: 'Tell which version this is' },
]

/** The commands, without those of two words. */
export function commandsOf(all: readonly HelpWords[]): HelpWords[] {
  return all.filter(({ words }) => words.length === 1)
}

/** The commands of two words that begin with one. */
export function secondsOf(all: readonly HelpWords[], command: string): HelpWords[] {
  return all.filter(({ words }) => words.length === 2 && words[0] === command)
}
