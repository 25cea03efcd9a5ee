import { parseFlags } from '../parse-flags.ts'
import { UsageError } from '../usage-error.ts'
import { withoutKubebuilderFlags } from './kubebuilder-flags.ts'

/** The flags of a command: whether each takes a value or is on or off. */
export type FlagTable = Readonly<Record<string, 'text' | 'switch'>>

/** What {@link readFlags} makes of a table. */
export type FlagValues<T extends FlagTable> = {
  readonly [Name in keyof T]?: (T[Name] extends 'text' ? string : boolean) | undefined
}

/** Flags that every command of the scaffold has. */
export const commonFlags: {
  readonly force: 'switch'
  readonly 'dry-run': 'switch'
  readonly yes: 'switch'
  readonly output: 'text'
} = { force: 'switch', 'dry-run': 'switch', yes: 'switch', output: 'text' }

/**
 * Reads flags as kubebuilder's users write them: `--flag value`, `--flag=value`, and `--flag=false` or `--no-flag` for what is on by
 * default. What kubebuilder has and means nothing here is passed over. Throws {@link UsageError} for what is not in the table.
 */
export function readFlags<const T extends FlagTable>(args: readonly string[], table: T): FlagValues<T> {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const [name, type] of Object.entries(table)) {
    options[name] = { type: type === 'text' ? 'string' : 'boolean', ...(name === 'yes' ? { short: 'y' } : {}) }
  }
  const given = withoutKubebuilderFlags(args, table).map((arg) => switched(arg, table))
  const values: Record<string, unknown> = parseFlags({ args: given, options: withNegations(options) }).values
  for (const [name, type] of Object.entries(table)) {
    if (type === 'switch' && values[`no-${name}`] === true) values[name] = false
  }
  const { output } = values
  if (output !== undefined && output !== 'json' && output !== 'text') {
    throw new UsageError(`--output must be text or json, not "${String(output)}"`)
  }
  // Made from the table.
  return values as FlagValues<T>
}

/** `--flag=false` -> `--no-flag`. */
function switched(arg: string, table: FlagTable): string {
  const match = /^--([a-z-]+)=(.*)$/.exec(arg)
  if (!match || table[match[1]!] !== 'switch') return arg
  const [, name, value] = match
  if (value === 'true') return `--${name}`
  if (value === 'false') return `--no-${name}`
  throw new UsageError(`--${name} must be true or false, not "${value}"`)
}

function withNegations<T extends Record<string, { type: 'string' | 'boolean' }>>(options: T): T {
  const switches = Object.entries(options).filter(([, { type }]) => type === 'boolean')
  return { ...options, ...Object.fromEntries(switches.map(([name]) => [`no-${name}`, { type: 'boolean' }])) }
}
