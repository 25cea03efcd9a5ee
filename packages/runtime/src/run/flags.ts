import { closestWord, errorText, KubewrightError } from '@kubewright/base'

/** A flag of a program. */
export interface Flag {
  /** Without dashes. */
  readonly name: string
  /** What its value is called in the help; a flag without one is true or false. */
  readonly value?: string
  readonly help: string
  /** For the help; what it means is up to who reads the flag. */
  readonly default?: string
  /** Other names that mean the same. */
  readonly aliases?: readonly string[]
  /** Throws for a value that cannot be used. */
  readonly check?: (value: string) => unknown
}

/** A mistake in how a program was called. Its code is `KW_USAGE`. */
export class UsageError extends KubewrightError {
  static {
    Object.defineProperty(UsageError.prototype, 'name', { value: 'UsageError', configurable: true })
  }

  constructor(message: string) {
    super('KW_USAGE', message)
  }
}

const yes = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const no = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/**
 * Reads flags as Go's programs do: `--name value`, `--name=value`, with one dash or two; of those that are true or false, `--name`
 * or `--name=false`. The last one counts. The result has the values by the main name; booleans are `true` or `false`.
 */
export function parseFlags(flags: readonly Flag[], args: readonly string[]): Map<string, string> {
  const byName = new Map(flags.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag])))
  const values = new Map<string, string>()
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg)
    if (!match) throw new UsageError(`unexpected argument "${arg}": everything is said with flags`)
    const [, name = '', given] = match
    const flag = byName.get(name)
    if (!flag) throw new UsageError(`unknown flag --${name}${suggestion(name, byName.keys())}`)
    const value = given ?? (flag.value === undefined ? 'true' : args[++index])
    if (value === undefined) throw new UsageError(`--${name} needs a value: --${name} ${flag.value}`)
    values.set(flag.name, checked(flag, name, value))
  }
  return values
}

function checked(flag: Flag, name: string, value: string): string {
  if (flag.value === undefined) {
    if (!yes.has(value) && !no.has(value)) throw new UsageError(`--${name} is true or false, not "${value}"`)
    return String(yes.has(value))
  }
  try {
    flag.check?.(value)
  } catch (error) {
    throw new UsageError(`--${name}: ${errorText(error)}`)
  }
  return value
}

function suggestion(name: string, known: Iterable<string>): string {
  const meant = closestWord(name, known)
  return meant === undefined ? '' : `: did you mean --${meant}?`
}

const width = 80
const indent = '        '

/** The help of a list of flags, no line longer than 80 characters. */
export function flagsHelp(flags: readonly Flag[]): string {
  return flags
    .map(({ name, value, help, default: byDefault, aliases = [] }) => {
      const names = [name, ...aliases].map((one) => `--${one}`).join(', ')
      const text = byDefault === undefined ? help : `${help} (default ${byDefault})`
      return [`  ${names}${value === undefined ? '' : ` ${value}`}`, ...wrap(text).map((line) => indent + line)].join(
        '\n',
      )
    })
    .join('\n')
}

function wrap(text: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
