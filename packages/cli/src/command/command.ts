import type { Clock } from '@kubewright/base'
import type { Terminal } from '../terminal/terminal.ts'

/** What a command has of the world around it; tests bring their own. */
export interface CommandContext {
  /** Where results go: what scripts read. */
  readonly out: (line: string) => void
  /** Where everything else goes: hints, warnings, logs. */
  readonly note: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** When the process started, on the clock's monotonic time. */
  readonly startedAt: number
  /** What starts this program again: Node, its options and the file. Not there where nothing can be started, as in tests. */
  readonly program?: readonly string[]
  /** The terminal that people look at. @default none: no colours, no progress */
  readonly terminal?: Terminal
  /** Aborted when the command shall end. */
  readonly signal: AbortSignal
}

/** One command of `kubewright`. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The text of `--help`. */
  readonly help: string
  /** The text of `--help` after these arguments, for commands of several words. @default `help` */
  helpFor?(args: readonly string[]): string
  /** What it is called with these arguments, for commands of several words. @default `name` */
  nameFor?(args: readonly string[]): string
  /** The help of a program that it hands flags on to, which are completed as its own. */
  handedOnHelp?(): Promise<string>
  /** Whether it ends by itself, and in order, when the signal aborts. Others are left alone then. @default false */
  readonly endsInOrder?: boolean
  /** Resolves with the exit code. */
  run(args: readonly string[], context: CommandContext): Promise<number>
}
