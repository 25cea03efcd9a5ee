import type { Clock } from '@kubewright/base'
import type { Interaction } from '../terminal/interaction.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The environment of a command. The program passes that of its process; tests pass their own. */
export interface CommandContext {
  /** Writes a line of the result to the standard output. */
  readonly out: (line: string) => void
  /** Writes a hint, warning or log line to the standard error. */
  readonly note: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** When the process started, in the clock's monotonic time. */
  readonly startedAt: number
  /** The folder that the command works in. @default the current one of the process */
  readonly folder?: string | undefined
  /** Asks the user. @default none: commands take their defaults, or name the flag that they need */
  readonly interaction?: Interaction | undefined
  /** Runs a program in the folder, with its output shown. Resolves to its exit code. @default starts a process */
  readonly runProgram?: ((program: string, args: readonly string[]) => Promise<number>) | undefined
  /** The command line of the process in which `dev` runs an operator. Absent where `dev` is not supported, as in tests. */
  readonly operatorProgram?: readonly string[] | undefined
  /** The command line that starts a program of `envtest`. Absent where `envtest use` is not supported, as in tests. */
  readonly envtestProgram?: readonly string[] | undefined
  /** Imports the web console. A program in one file cannot import it. @default `import` */
  readonly importConsole?: (() => Promise<typeof import('@kubewright/console')>) | undefined
  /** Called when a command that serves until it is interrupted is ready. @default nothing */
  readonly onReady?: (() => void) | undefined
  /** The terminal that the output goes to. @default none: no colours, no wrapping, no progress */
  readonly terminal?: Terminal | undefined
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal
}

/** The folder that a command works in. */
export function folderOf({ folder }: Pick<CommandContext, 'folder'>): string {
  return folder ?? process.cwd()
}
