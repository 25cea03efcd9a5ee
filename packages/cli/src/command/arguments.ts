import { type Flag, UsageError } from '@kubewright/base'

/** One positional argument of a command. */
export interface Argument {
  /** Its name in the help, such as `FILE`. */
  readonly label: string
  readonly help: string
  /** Completes the error for a missing argument: `FILE is missing: name a manifest`. */
  readonly fix?: string | undefined
  /** Whether it may be left out. @default false */
  readonly optional?: true | undefined
  /** Whether it takes all remaining arguments. Only for the last one. @default false */
  readonly many?: true | undefined
  /** The only values that are accepted. */
  readonly choices?: readonly string[] | undefined
  /** What a shell offers. */
  readonly complete?: Flag['complete'] | undefined
}

/** The positional arguments of a command by name, in their order. */
export type ArgumentTable = Readonly<Record<string, Argument>>

/** The values of a table's arguments. */
export type ArgumentValues<A extends ArgumentTable> = {
  readonly [Name in keyof A]: A[Name] extends { readonly many: true }
    ? readonly Value<A[Name]>[]
    : A[Name] extends { readonly optional: true }
      ? Value<A[Name]> | undefined
      : Value<A[Name]>
}

type Value<A extends Argument> = A extends { readonly choices: readonly (infer Choice)[] } ? Choice : string

/** Returns the table as it is, with its literal types, so that {@link ArgumentValues} can be derived from it. */
export function defineArguments<const A extends ArgumentTable>(table: A): A {
  return table
}

/** Assigns operands to arguments. Throws {@link UsageError} if one is missing, unexpected or not among the choices. */
export function assignArguments<A extends ArgumentTable>(table: A, operands: readonly string[]): ArgumentValues<A> {
  const values: Record<string, string | readonly string[] | undefined> = {}
  const left = [...operands]
  for (const [name, argument] of Object.entries(table)) {
    const { label, fix, optional, many } = argument
    if (left.length === 0 && !optional)
      throw new UsageError(`${label} is missing${fix === undefined ? '' : `: ${fix}`}`)
    const taken = many ? left.splice(0) : left.splice(0, 1)
    for (const value of taken) checkChoice(argument, value)
    values[name] = many ? taken : taken[0]
  }
  const [unexpected] = left
  if (unexpected !== undefined) {
    const labels = Object.values(table).map(({ label }) => label)
    const allowed = labels.length === 0 ? 'no argument besides flags' : `only one ${labels.join(' and one ')}`
    throw new UsageError(`unexpected argument "${unexpected}": the command takes ${allowed}`)
  }
  // Filled by the table from which the type is derived.
  return values as ArgumentValues<A>
}

function checkChoice({ label, choices }: Argument, value: string): void {
  if (choices === undefined || choices.includes(value)) return
  throw new UsageError(`${label} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not "${value}"`)
}
