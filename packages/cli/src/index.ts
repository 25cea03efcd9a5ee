export type { Command, CommandContext } from './command.ts'
export { runCommand } from './run-command.ts'
export { UsageError } from './usage-error.ts'
