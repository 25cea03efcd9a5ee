import { readFile } from 'node:fs/promises'
import { parseYaml } from '@kubewright/api'
import { closestWord, errorText, type FlagTable, parseFlags, UsageError } from '@kubewright/base'

/**
 * The arguments that a configuration file stands for: a YAML mapping from the names of flags to values. Lists are joined by commas, mappings
 * become `key=value` pairs; each element is an argument of its own if the flag may be repeated. Every mistake is a {@link UsageError} that names the file and the field.
 */
export async function configFileArguments(args: readonly string[], flags: FlagTable): Promise<string[]> {
  const file = configFileOf(args)
  if (file === undefined) return []
  let value: unknown
  try {
    value = parseYaml(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`--config ${file}: ${errorText(error)}`)
  }
  if (value === null || value === undefined) return []
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`--config ${file}: must be a mapping of flags, such as "port: 6443"`)
  }
  return Object.entries(value).flatMap(([name, given]) => argumentsOf(file, name, given, flags))
}

/** The value of `--config`, of which the last one counts. */
function configFileOf(args: readonly string[]): string | undefined {
  let file: string | undefined
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break
    if (arg === '--config') file = args[index + 1] ?? file
    else if (arg.startsWith('--config=')) file = arg.slice('--config='.length)
  }
  return file
}

function argumentsOf(file: string, name: string, value: unknown, flags: FlagTable): string[] {
  const fail = (problem: string): UsageError => new UsageError(`${file}: ${name}: ${problem}`)
  const flag = Object.hasOwn(flags, name) && name !== 'config' ? flags[name] : undefined
  if (!flag) {
    const meant = closestWord(name, Object.keys(flags))
    throw fail(`unknown field${meant === undefined ? '' : `, did you mean ${meant}?`}`)
  }
  const texts = textsOf(value)
  if (texts === undefined) throw fail('must be a text, a number, true, false, a list of them or a mapping to them')
  const values = flag.repeatable ? texts : [texts.join(',')]
  return values.map((text) => {
    const argument = `--${name}=${text}`
    try {
      parseFlags({ [name]: flag }, [argument])
    } catch (error) {
      // Messages begin with the flag, which the file names without dashes.
      throw fail(errorText(error).replace(`--${name} `, ''))
    }
    return argument
  })
}

/** The texts of a value, several for a list or a mapping; undefined for values that no flag has. */
function textsOf(value: unknown): string[] | undefined {
  let texts: (string | undefined)[]
  if (Array.isArray(value)) texts = value.map(scalarOf)
  else if (typeof value === 'object' && value !== null) {
    texts = Object.entries(value).map(([key, item]) => {
      const text = scalarOf(item)
      return text === undefined ? undefined : `${key}=${text}`
    })
  } else texts = [scalarOf(value)]
  return texts.every((text) => text !== undefined) ? texts : undefined
}

function scalarOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}
