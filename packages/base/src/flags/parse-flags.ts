import { closestWord } from '../closest-word.ts'
import { errorText } from '../error-text.ts'
import type { Flag, FlagTable, FlagValues } from './flag.ts'
import { UsageError } from './usage-error.ts'

/**
 * How flags are written. Both styles accept `--name value`, `--name=value`, and for switches `--name` and `--name=false`.
 *
 * - `posix`: also `-n value`, `-nvalue`, `-xyz` for three switches, and `--no-name`. A value that begins with a dash needs `=`.
 * - `go`: one dash means the same as two. The argument after a flag is its value, even if it begins with a dash.
 */
export type FlagStyle = 'posix' | 'go'

/** The result of {@link parseFlags}. */
export interface ParsedFlags<T extends FlagTable> {
  readonly values: FlagValues<T>
  /** The arguments that are not flags, in order. */
  readonly operands: readonly string[]
  /** The arguments after `--`; undefined without `--`. */
  readonly rest: readonly string[] | undefined
}

/** Parses arguments by a table of flags. Throws {@link UsageError} for the first mistake. */
export function parseFlags<const T extends FlagTable>(
  table: T,
  args: readonly string[],
  style: FlagStyle = 'posix',
): ParsedFlags<T> {
  const reader = new ArgumentReader(table, style)
  const end = args.indexOf('--')
  reader.read(end < 0 ? args : args.slice(0, end))
  // The reader has followed the table, from which the type is derived.
  const values = reader.values() as FlagValues<T>
  return { values, operands: reader.operands, rest: end < 0 ? undefined : args.slice(end + 1) }
}

const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const falseWords = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

class ArgumentReader {
  readonly operands: string[] = []
  readonly #table: FlagTable
  readonly #style: FlagStyle
  readonly #given = new Map<string, unknown[]>()
  /** The main name by each name, aliases and letters included. */
  readonly #names = new Map<string, string>()

  constructor(table: FlagTable, style: FlagStyle) {
    this.#table = table
    this.#style = style
    for (const [name, { aliases = [], short }] of Object.entries(table)) {
      for (const each of [name, ...aliases]) this.#names.set(`--${each}`, name)
      if (short !== undefined) this.#names.set(`-${short}`, name)
    }
  }

  read(args: readonly string[]): void {
    const queue = [...args]
    for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
      if (!arg.startsWith('-') || arg === '-') this.operands.push(arg)
      else if (arg.startsWith('--')) this.#long(arg, queue)
      else if (this.#style === 'go') this.#long(`-${arg}`, queue)
      else this.#letters(arg.slice(1), queue)
    }
  }

  values(): Record<string, unknown> {
    const values: Record<string, unknown> = {}
    for (const [name, flag] of Object.entries(this.#table)) {
      const given = this.#given.get(name)
      if (flag.repeatable) values[name] = given ?? []
      else if (given) values[name] = given.at(-1)
      else values[name] = typeof flag.default === 'string' ? flagValue(flag, flag.default, `--${name}`) : flag.default
    }
    return values
  }

  #long(arg: string, queue: string[]): void {
    const equals = arg.indexOf('=')
    const typed = equals < 0 ? arg : arg.slice(0, equals)
    const inline = equals < 0 ? undefined : arg.slice(equals + 1)
    const name = this.#names.get(typed)
    if (name === undefined) this.#negation(typed, inline)
    else this.#take(name, typed, inline, queue)
  }

  /** `--no-name` turns a switch off. */
  #negation(typed: string, inline: string | undefined): void {
    const name =
      this.#style === 'posix' && typed.startsWith('--no-') ? this.#names.get(`--${typed.slice(5)}`) : undefined
    if (name === undefined || this.#table[name]!.value !== undefined || inline !== undefined) throw this.#unknown(typed)
    this.#given.set(name, [false])
  }

  /** `-n value`, `-nvalue`, or several switches in one argument. */
  #letters(letters: string, queue: string[]): void {
    const typed = `-${letters[0]}`
    const name = this.#names.get(typed)
    if (name === undefined) throw this.#unknown(typed)
    const more = letters.slice(1)
    if (this.#table[name]!.value !== undefined) this.#take(name, typed, more === '' ? undefined : more, queue)
    else {
      this.#given.set(name, [true])
      if (more !== '') this.#letters(more, queue)
    }
  }

  #take(name: string, typed: string, inline: string | undefined, queue: string[]): void {
    const flag = this.#table[name]!
    const text = inline ?? (flag.value === undefined ? 'true' : (flag.bare ?? this.#next(flag.value, typed, queue)))
    const value = flagValue(flag, text, typed)
    if (flag.repeatable) this.#given.set(name, [...(this.#given.get(name) ?? []), value])
    else this.#given.set(name, [value])
  }

  #next(label: string, typed: string, queue: string[]): string {
    const next = queue.shift()
    if (next === undefined) throw new UsageError(`${typed} needs a value: ${typed} ${label}`)
    if (this.#style === 'posix' && next.startsWith('-') && next !== '-') {
      throw new UsageError(`${typed} needs a value, but "${next}" follows: write ${typed}=${next} if that is the value`)
    }
    return next
  }

  #unknown(typed: string): UsageError {
    const known = Object.entries(this.#table).flatMap(([name, { aliases = [], hidden }]) =>
      hidden ? [] : [name, ...aliases],
    )
    const meant = typed.startsWith('--') ? closestWord(typed.slice(2), known) : undefined
    return new UsageError(`unknown flag ${typed}${meant === undefined ? '' : `: did you mean --${meant}?`}`)
  }
}

function flagValue(flag: Flag, text: string, typed: string): unknown {
  if (flag.value === undefined) {
    if (trueWords.has(text)) return true
    if (falseWords.has(text)) return false
    throw new UsageError(`${typed} must be true or false, not "${text}"`)
  }
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw new UsageError(`${typed} must be ${inWords(flag.choices)}, not "${text}"`)
  }
  try {
    return flag.parse === undefined ? text : flag.parse(text, typed)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${typed}: ${errorText(error)}`)
  }
}

/** `a`, `a or b`, `a, b or c`. */
function inWords(choices: readonly string[]): string {
  const last = choices.at(-1) ?? ''
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`
}

/** A {@link Flag.parse} for whole numbers within bounds. */
export function integerFrom(least: number, most: number): (text: string, flag: string) => number {
  return (text, flag) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new UsageError(`${flag} must be a number from ${least} to ${most}, not "${text}"`)
  }
}
