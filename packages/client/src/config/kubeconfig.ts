import { dirname, resolve } from 'node:path'
import { parseYaml } from '@kubewright/api'
import { errorText, goQuote, isJsonObject } from '@kubewright/base'
import { ConfigError } from './config-error.ts'

/** One named entry of a kubeconfig, with the file that defines it. */
export class KubeconfigEntry {
  readonly file: string
  /** The location in the file: `users[admin].user`. */
  readonly path: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(file: string, path: string, fields: Readonly<Record<string, unknown>>) {
    this.file = file
    this.path = path
    this.#fields = fields
  }

  /** An error about a field of this entry. */
  error(field: string, problem: string, cause?: unknown): ConfigError {
    const path = [this.path, field].filter((part) => part !== '').join('.')
    return new ConfigError(`${this.file}: ${path}: ${problem}`, cause)
  }

  has(field: string): boolean {
    return this.#value(field) !== undefined
  }

  text(field: string): string | undefined {
    const value = this.#value(field)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    // The value may be a secret, so it is not shown.
    throw this.error(
      field,
      `must be a string, not ${typeof value === 'object' ? 'a list or an object' : `a ${typeof value}`}`,
    )
  }

  flag(field: string): boolean {
    const value = this.#value(field) ?? false
    if (typeof value === 'boolean') return value
    throw this.error(field, `must be true or false, not ${JSON.stringify(value)}`)
  }

  texts(field: string): string[] {
    const value = this.#value(field) ?? []
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
    throw this.error(field, 'must be a list of strings')
  }

  /** A path, resolved relative to the folder of the file. */
  filePath(field: string): string | undefined {
    const path = this.text(field)
    return path === undefined ? undefined : resolve(dirname(this.file), path)
  }

  /** PEM text that is stored in base64. */
  data(field: string): string | undefined {
    const text = this.text(field)?.replace(/\s/g, '')
    if (text === undefined) return undefined
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw this.error(field, 'is not base64')
    const decoded = Buffer.from(text, 'base64').toString()
    if (!decoded.includes('-----BEGIN ')) throw this.error(field, 'is not PEM in base64')
    return decoded
  }

  /** A nested object as an entry. */
  entry(field: string): KubeconfigEntry | undefined {
    const value = this.#value(field)
    if (value === undefined) return undefined
    if (isJsonObject(value)) return new KubeconfigEntry(this.file, `${this.path}.${field}`, value)
    throw this.error(field, 'must be an object')
  }

  /** A list of objects, each as an entry. */
  entries(field: string): KubeconfigEntry[] {
    const value = this.#value(field) ?? []
    if (!Array.isArray(value)) throw this.error(field, 'must be a list')
    return value.map((item: unknown, index) => {
      const path = `${this.path}.${field}[${index}]`
      if (!isJsonObject(item)) throw new ConfigError(`${this.file}: ${path}: must be an object`)
      return new KubeconfigEntry(this.file, path, item)
    })
  }

  /** The names of the fields. */
  keys(): string[] {
    return Object.keys(this.#fields)
  }

  #value(field: string): unknown {
    return Object.hasOwn(this.#fields, field) ? (this.#fields[field] ?? undefined) : undefined
  }
}

/** One kubeconfig, or several merged ones. */
export interface Kubeconfig {
  /** The files that were read. */
  readonly files: readonly string[]
  readonly currentContext?: string | undefined
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>
  readonly users: ReadonlyMap<string, KubeconfigEntry>
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>
}

/** Parses a kubeconfig. Entries are validated when they are used, so an invalid user that is not used does not matter. */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw new ConfigError(`${file}: ${errorText(error)}`, error)
  }
  if (value === null || value === undefined) value = {}
  if (!isJsonObject(value)) throw new ConfigError(`${file}: is not a kubeconfig: it must be an object`)
  const { kind = 'Config', apiVersion = 'v1' } = value
  if (kind !== 'Config' || apiVersion !== 'v1') {
    throw new ConfigError(`${file}: is not a kubeconfig: apiVersion and kind must be v1 and Config`)
  }
  const root = new KubeconfigEntry(file, '', value)
  return {
    files: [file],
    currentContext: root.text('current-context'),
    clusters: namedEntries(file, value, 'clusters', 'cluster'),
    users: namedEntries(file, value, 'users', 'user'),
    contexts: namedEntries(file, value, 'contexts', 'context'),
  }
}

/** Merges kubeconfigs as kubectl does: the first file that defines a name or a current context wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (part: 'clusters' | 'users' | 'contexts'): Map<string, KubeconfigEntry> =>
    new Map(configs.toReversed().flatMap((config) => [...config[part]]))
  return {
    files: configs.flatMap(({ files }) => files),
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
  }
}

function namedEntries(
  file: string,
  config: Readonly<Record<string, unknown>>,
  list: string,
  field: string,
): Map<string, KubeconfigEntry> {
  const items = config[list] ?? []
  if (!Array.isArray(items)) throw new ConfigError(`${file}: ${list}: must be a list`)
  const entries = new Map<string, KubeconfigEntry>()
  items.forEach((item: unknown, index) => {
    const at = `${list}[${index}]`
    if (!isJsonObject(item)) throw new ConfigError(`${file}: ${at}: must be an object with name and ${field}`)
    const { name } = item
    if (typeof name !== 'string') throw new ConfigError(`${file}: ${at}.name: must be a string`)
    const fields = item[field] ?? {}
    if (!isJsonObject(fields)) throw new ConfigError(`${file}: ${list}[${goQuote(name)}].${field}: must be an object`)
    // The first of two entries with the same name wins, as between files.
    if (!entries.has(name)) entries.set(name, new KubeconfigEntry(file, `${list}[${goQuote(name)}].${field}`, fields))
  })
  return entries
}
