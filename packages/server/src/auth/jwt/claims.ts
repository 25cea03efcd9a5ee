import { CaughtError } from '@kubewright/base'
import type { JsonObject } from './json-web-token.ts'

/** The claims of a token, read as Go's encoding/json does. Errors about other types have its messages. */
export class Claims {
  readonly json: JsonObject
  /** The Go struct whose fields the messages name; undefined if every claim is decoded on its own. */
  readonly #struct: string | undefined

  constructor(json: JsonObject, struct?: string) {
    this.json = json
    this.#struct = struct
  }

  has(name: string): boolean {
    return Object.hasOwn(this.json, name)
  }

  /** A text; null is the empty text. Throws if the claim is absent or of another type. */
  string(name: string): string {
    if (!this.has(name)) throw new CaughtError('claim not present')
    return this.#string(name, 'string')
  }

  boolean(name: string): boolean {
    const value = this.json[name] ?? false
    if (typeof value !== 'boolean') throw this.#typeError(name, 'bool')
    return value
  }

  /** A list of texts, or a single text. `type` is the Go type that messages name. */
  strings(name: string, type = 'string'): string[] {
    const value = this.json[name] ?? []
    if (!Array.isArray(value)) return [this.#string(name, type)]
    if (value.every((item) => typeof item === 'string' || item === null)) return value.map((item) => item ?? '')
    throw this.#typeError(name, type)
  }

  /** Seconds since the epoch, or undefined if the claim is absent. The number may be in quotes. */
  seconds(name: string): number | undefined {
    const value = this.json[name] ?? undefined
    if (value === undefined || typeof value === 'number') return value
    if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value)
    throw this.#typeError(name, 'json.Number')
  }

  #string(name: string, type: string): string {
    const value = this.json[name]
    if (typeof value === 'string') return value
    if (value === null) return ''
    throw this.#typeError(name, type)
  }

  #typeError(name: string, type: string): Error {
    const target = this.#struct === undefined ? 'value' : `struct field ${this.#struct}.${name}`
    return new CaughtError(`json: cannot unmarshal ${kindOf(this.json[name])} into Go ${target} of type ${type}`)
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
