import { goQuote, isJsonObject, KubewrightError } from '@kubewright/base'
import { FieldError, type FieldErrorType } from '@kubewright/schema'

/** The mistakes in a configuration file, each with the path of its field. */
export class ConfigProblems {
  readonly #errors: string[] = []
  /** Fields that the format does not have. */
  readonly unknown: string[] = []

  add(path: string, problem: string): void {
    this.#errors.push(path === '' ? problem : `${path}: ${problem}`)
  }

  get errors(): readonly string[] {
    return this.#errors
  }

  /**
   * Throws an Error for unknown fields, or for all other mistakes, with the texts of kube-apiserver: strict decoding comes before validation.
   */
  throwAny(): void {
    if (this.unknown.length > 0) {
      const fields = this.unknown.map((path) => `unknown field ${goQuote(path)}`)
      throw new KubewrightError('KW_SERVER_CONFIG', `strict decoding error: ${fields.join(', ')}`)
    }
    const [first, ...more] = new Set(this.#errors)
    if (first !== undefined)
      throw new KubewrightError('KW_SERVER_CONFIG', more.length === 0 ? first : `[${[first, ...more].join(', ')}]`)
  }
}

/** An object of a configuration file. Every accessor reports a value of a wrong type with its path and returns undefined instead. */
export class ConfigFields {
  readonly path: string
  readonly problems: ConfigProblems
  readonly #values: Readonly<Record<string, unknown>>
  readonly #read = new Set<string>()

  constructor(value: unknown, path: string, problems: ConfigProblems) {
    this.path = path
    this.problems = problems
    const isObject = isJsonObject(value)
    if (!isObject && value !== null && value !== undefined) problems.add(path, `must be an object, not ${shown(value)}`)
    this.#values = isObject ? value : {}
  }

  /** The path of a field, for messages. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  /** Reports a problem of a field. */
  report(name: string, problem: string): void {
    this.problems.add(this.at(name), problem)
  }

  /** Reports that a field is missing, with the text of kube-apiserver. */
  required(name: string, detail = ''): void {
    this.#reportAs('FieldValueRequired', name, '', detail)
  }

  /** Reports a value that is not valid, with the text of kube-apiserver. */
  invalid(name: string, value: unknown, detail: string): void {
    this.#reportAs('FieldValueInvalid', name, value, detail)
  }

  /** Reports a value that another element of the list has, with the text of kube-apiserver. */
  duplicate(name: string, value: unknown): void {
    this.#reportAs('FieldValueDuplicate', name, value, '')
  }

  /** Reports a value that is not one of the supported ones, with the text of kube-apiserver. */
  unsupported(name: string, value: unknown, supported: readonly string[]): void {
    const detail = `supported values: ${supported.map(goQuote).join(', ')}`
    this.#reportAs('FieldValueNotSupported', name, value, detail)
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined
  }

  /** The value as it is; undefined for null. */
  raw(name: string): unknown {
    this.#read.add(name)
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined
  }

  string(name: string): string | undefined {
    return this.#typed(name, 'a string', (value) => typeof value === 'string') as string | undefined
  }

  boolean(name: string): boolean | undefined {
    return this.#typed(name, 'true or false', (value) => typeof value === 'boolean') as boolean | undefined
  }

  strings(name: string): readonly string[] {
    const isStrings = (value: unknown): boolean =>
      Array.isArray(value) && value.every((item) => typeof item === 'string')
    return (this.#typed(name, 'a list of strings', isStrings) as readonly string[] | undefined) ?? []
  }

  object(name: string): ConfigFields | undefined {
    const value = this.raw(name)
    return value === undefined ? undefined : new ConfigFields(value, this.at(name), this.problems)
  }

  objects(name: string): ConfigFields[] {
    const list = (this.#typed(name, 'a list', Array.isArray) as readonly unknown[] | undefined) ?? []
    return list.map((item, index) => new ConfigFields(item, `${this.at(name)}[${index}]`, this.problems))
  }

  /** Reports every field that no accessor has read. */
  done(): void {
    for (const name of Object.keys(this.#values)) if (!this.#read.has(name)) this.problems.unknown.push(this.at(name))
  }

  #reportAs(type: FieldErrorType, name: string, value: unknown, detail: string): void {
    this.problems.add(name === '' ? this.path : this.at(name), new FieldError(type, '', value, detail).errorBody())
  }

  #typed(name: string, expected: string, fits: (value: unknown) => boolean): unknown {
    const value = this.raw(name)
    if (value === undefined || fits(value)) return value
    this.report(name, `must be ${expected}, not ${shown(value)}`)
    return undefined
  }
}

/** A value in a message, shortened. */
function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
