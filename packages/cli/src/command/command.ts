import { type Flag, type FlagTable, type FlagValues, parseFlags } from '@kubewright/base'
import { type Argument, type ArgumentTable, type ArgumentValues, assignArguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'

/** The description of a command: parsing, help, shell completion and the reference page are derived from it. */
export interface CommandDefinition<F extends FlagTable, A extends ArgumentTable> {
  /** One word, or two for a command of a group: `up`, `create api`. */
  readonly name: string
  /** One line for lists of commands: imperative mood, no final period. */
  readonly summary: string
  /** Paragraphs, separated by empty lines. Lines that begin with two blanks keep their layout. */
  readonly description: string
  readonly args?: A | undefined
  readonly flags?: F | undefined
  /** The usage lines after the name, if there are several forms. @default derived from arguments and flags */
  readonly usage?: readonly string[] | undefined
  /** Command lines without `kubewright`. A line break within one is kept. */
  readonly examples?: readonly string[] | undefined
  /** Adds arguments before the given ones, for example those of a configuration file. The given ones win. @default none */
  readonly extend?: ((args: readonly string[], flags: F) => Promise<readonly string[]>) | undefined
  /** Hands arguments on to another program. */
  readonly forwards?: ForwardedArguments | undefined
  /** Whether the command watches the signal and ends by itself. Otherwise it is abandoned when the signal aborts. @default false */
  readonly endsInOrder?: boolean | undefined
  /** Resolves to the exit code. Import the implementation here, so that the definitions of all commands load fast. */
  readonly run: (input: CommandInput<F, A>, context: CommandContext) => Promise<number>
}

/** Arguments that a command passes to another program. */
export interface ForwardedArguments {
  /** Their name in the help. */
  readonly label: string
  readonly help: string
  /** Which ones: those after `--`, or all from the first flag on. */
  readonly from: 'dashes' | 'first flag'
  /** The flags of the other program. */
  readonly flags: () => Promise<FlagTable>
}

/** The parsed arguments of a command. */
export interface CommandInput<F extends FlagTable = FlagTable, A extends ArgumentTable = ArgumentTable> {
  readonly flags: FlagValues<F>
  readonly args: ArgumentValues<A>
  /** The arguments for another program, if the command forwards any. */
  readonly forwarded: readonly string[]
}

/** The table of a command without flags. */
export type NoFlags = Readonly<Record<never, Flag>>

type NoArguments = Readonly<Record<never, Argument>>

/** A command, with the types of its flags and arguments erased. */
export interface Command extends Omit<CommandDefinition<FlagTable, ArgumentTable>, 'run' | 'extend'> {
  readonly flags: FlagTable
  readonly args: ArgumentTable
  /** Parses the arguments, then runs the command. Resolves to the exit code; rejects with a UsageError for a mistake in the arguments. */
  run(args: readonly string[], context: CommandContext): Promise<number>
}

/** Commands whose names begin with the same word. */
export interface CommandGroup {
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
}

/** Defines a command. The types of its input are inferred from its flags and arguments. */
export function defineCommand<const F extends FlagTable = NoFlags, const A extends ArgumentTable = NoArguments>(
  definition: CommandDefinition<F, A>,
): Command {
  // Without a table the type parameter is that of the empty one.
  const { flags = {} as F, args = {} as A, run, extend, ...rest } = definition
  return {
    ...rest,
    flags,
    args,
    run: async (given, context) => {
      const extra = (await extend?.(given, flags)) ?? []
      return run(parseInput(flags, args, definition.forwards, [...extra, ...given]), context)
    },
  }
}

function parseInput<F extends FlagTable, A extends ArgumentTable>(
  flags: F,
  args: A,
  forwards: ForwardedArguments | undefined,
  given: readonly string[],
): CommandInput<F, A> {
  if (forwards?.from === 'first flag') {
    const at = given.findIndex((arg) => arg.startsWith('-'))
    const end = at < 0 ? given.length : at
    const forwarded = given.slice(given[end] === '--' ? end + 1 : end)
    return { flags: parseFlags(flags, []).values, args: assignArguments(args, given.slice(0, end)), forwarded }
  }
  const { values, operands, rest = [] } = parseFlags(flags, given)
  const all = forwards === undefined ? [...operands, ...rest] : operands
  return { flags: values, args: assignArguments(args, all), forwarded: forwards === undefined ? [] : rest }
}
