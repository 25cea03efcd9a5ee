/**
 * One flag of a program: the single description from which parsing, help, shell completion and reference pages are derived. Its name is
 * its key in a {@link FlagTable}.
 */
export interface Flag {
  /** The name of the value in help, such as `FILE`. A flag without it is a switch, which is true or false. */
  readonly value?: string | undefined
  /** The help: imperative mood, no final period, without the default. */
  readonly help: string
  /**
   * The text of the value if the flag has no `=VALUE`. The next argument is then never the value. @default undefined, which makes the
   * value required
   */
  readonly bare?: string | undefined
  /** The value if the flag is absent: the text to be parsed, or the state of a switch. @default undefined */
  readonly default?: string | boolean | undefined
  /** Describes in words a default that the program determines. Shown in place of {@link default}. */
  readonly defaultText?: string | undefined
  /** A single letter, for `-n`. Not used in the `go` style. */
  readonly short?: string | undefined
  /** Further names, without dashes. */
  readonly aliases?: readonly string[] | undefined
  /** Whether the flag may be given more than once. Otherwise the last one counts. @default false */
  readonly repeatable?: true | undefined
  /** The only values that are accepted. */
  readonly choices?: readonly string[] | undefined
  /**
   * Turns the text into the value. Throws for a text that cannot be used: a UsageError is passed on, the message of any other error is
   * prefixed with the flag. `flag` is the flag with its dashes.
   */
  readonly parse?: ((text: string, flag: string) => unknown) | undefined
  /** What a shell offers as the value: files, folders, or a list that the program prints. Choices are always offered. */
  readonly complete?: 'files' | 'folders' | { readonly list: string } | undefined
  /** Shows the switch as `--no-NAME`; the help then describes the negation. */
  readonly negated?: true | undefined
  /** The heading under which the help lists the flag. @default the first section */
  readonly section?: string | undefined
  /** Accepts the flag, but leaves it out of help, completion and suggestions. */
  readonly hidden?: true | undefined
}

/** Flags by name, without dashes, in the order of the help. */
export type FlagTable = Readonly<Record<string, Flag>>

/** The values of a table's flags: `undefined` for a flag that is absent and has no default, `[]` for an absent repeatable one. */
export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: FlagValue<T[Name]> }

type FlagValue<F extends Flag> = F extends { readonly value: string }
  ? F extends { readonly repeatable: true }
    ? readonly SingleValue<F>[]
    : SingleValue<F> | Absent<F>
  : boolean | Absent<F>

type SingleValue<F extends Flag> = F extends { readonly parse: (...args: never[]) => infer Value }
  ? Value
  : F extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string

type Absent<F extends Flag> = F extends { readonly default: string | boolean } ? never : undefined

/** Returns the table as it is, with its literal types, so that {@link FlagValues} can be derived from it. */
export function defineFlags<const T extends FlagTable>(table: T): T {
  return table
}
