import { defineBudget, goQuote, isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { setOwn } from '../own-property.ts'
import { JsonRangeError, JsonSyntaxError } from './json-syntax-error.ts'

/** Options of {@link JsonReader}. */
export interface JsonReaderOptions {
  /** Collect `duplicate field` and `unknown field` errors. */
  readonly strict?: boolean | undefined
  /**
   * The type to decode into. As with decoding into a Go struct, unknown fields are dropped (and reported when strict),
   * and a duplicate object is merged into the earlier one. Without a schema every field is kept and the last duplicate
   * wins.
   */
  readonly schema?: JSONSchemaProps | undefined
  /**
   * Represent a field that has a value and then null as {@link RepeatedNull}, and merge the items of duplicate lists. Requires a schema.
   * @default false: null replaces the value, and a list replaces the earlier one
   */
  readonly keepRepeated?: boolean | undefined
  /** Represent numbers with a fraction or an exponent as {@link JsonFloat}. */
  readonly keepFloats?: boolean | undefined
  /** Each character of the text is one byte (latin1). Error messages then name the original bytes. */
  readonly bytes?: boolean | undefined
}

/** A number with a fraction or an exponent, or an integer outside of int64, as it is written. */
export class JsonFloat {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

/**
 * A duplicate field whose later value is null. Go's decoder keeps the earlier value of a field that cannot be null, such as a string or a
 * struct, and clears any other.
 */
export class RepeatedNull {
  readonly earlier: unknown

  constructor(earlier: unknown) {
    this.earlier = earlier
  }
}

/**
 * The maximum nesting depth of JSON. Go's decoder stops at 10000. This limit is lower: a stack overflow while V8
 * compiles a regular expression would abort the process. The error message is the same.
 */
export const maxJsonDepth: number = defineBudget(2000, {
  group: 'server',
  what: 'nesting depth of JSON, in requests and in stored objects',
  option: 'for requests, less: `limits.body.depth`, `up --max-body-depth`',
  answer: '400',
  kubernetes: '10,000',
})
const maxStrictErrors = 100

const quote = 0x22
const backslash = 0x5c

/**
 * A JSON parser with the semantics and error messages of sigs.k8s.io/json: case-sensitive names, exact integers (a
 * bigint beyond 2^53, a float beyond int64), duplicate and unknown fields reported by path. One instance reads one
 * text.
 */
export class JsonReader {
  readonly #text: string
  // False while skipping values that are not checked for strict errors.
  #strict: boolean
  readonly #schema: JSONSchemaProps | undefined
  readonly #bytes: boolean
  readonly #keepFloats: boolean
  readonly #keepRepeated: boolean
  #at = 0
  #depth = 0
  // The path to the current value: names and indexes. Maintained only when strict.
  readonly #path: (string | number)[] = []
  readonly #errors = new Set<string>()

  constructor(text: string, options: JsonReaderOptions = {}) {
    this.#text = text
    this.#strict = options.strict ?? false
    this.#schema = options.schema
    this.#bytes = options.bytes ?? false
    this.#keepFloats = options.keepFloats ?? false
    this.#keepRepeated = options.keepRepeated ?? false
  }

  /** The strict errors found so far: in document order, without duplicates, at most 100. */
  get strictErrors(): string[] {
    return [...this.#errors]
  }

  /** Reads the whole text as one value. Throws {@link JsonSyntaxError} with Go's message when it is not JSON. */
  read(): unknown {
    try {
      this.#space()
      const value = this.#value(this.#schema, undefined)
      this.#space()
      if (this.#at < this.#text.length) this.#fail('after top-level value')
      return value
    } catch (error) {
      if (error instanceof RangeError) return this.#failAt(this.#lastOpening(), 'exceeded max depth')
      throw error
    }
  }

  #value(schema: JSONSchemaProps | undefined, previous: unknown): unknown {
    const code = this.#text.charCodeAt(this.#at)
    switch (code) {
      case 0x7b:
        return this.#object(schema, previous)
      case 0x5b:
        return schema !== undefined && schema.items === undefined ? this.#opaque() : this.#array(schema, previous)
      case quote:
        return this.#string()
      case 0x74:
        return this.#literal('true', true)
      case 0x66:
        return this.#literal('false', false)
      case 0x6e:
        return this.#literal('null', null)
      default:
        if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#number()
        return this.#fail('looking for beginning of value')
    }
  }

  #object(schema: JSONSchemaProps | undefined, previous: unknown): Record<string, unknown> {
    const shape = schema === undefined ? undefined : shapeOf(schema)
    if (schema !== undefined && shape === undefined) return this.#opaque() as Record<string, unknown>
    this.#enter()
    // A duplicate struct field continues to fill the object that the first occurrence created.
    const object = shape !== undefined && isJsonObject(previous) ? (previous as Record<string, unknown>) : {}
    let seen: Set<string> | undefined
    this.#at++
    this.#space()
    if (this.#text.charCodeAt(this.#at) === 0x7d) return this.#leave(object)
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== quote) this.#fail('looking for beginning of object key string')
      const key = this.#string()
      this.#space()
      if (this.#text.charCodeAt(this.#at) !== 0x3a) this.#fail('after object key')
      this.#at++
      this.#space()
      const known = shape === undefined || shape.fields === undefined || Object.hasOwn(shape.fields, key)
      if (this.#strict) {
        if (!known) this.#report('unknown field', key)
        else if (previous === undefined ? Object.hasOwn(object, key) : seen?.has(key))
          this.#report('duplicate field', key)
        if (previous !== undefined) (seen ??= new Set()).add(key)
      }
      if (known) {
        if (this.#strict) this.#path.push(key)
        const child = shape === undefined ? undefined : shape.fields === undefined ? shape.values : shape.fields[key]
        let earlier = Object.hasOwn(object, key) && shape?.fields ? object[key] : undefined
        if (earlier instanceof RepeatedNull) earlier = earlier.earlier
        const value = this.#value(child, earlier)
        if (this.#strict) this.#path.pop()
        const cleared = this.#keepRepeated && value === null && earlier !== undefined && earlier !== null
        setOwn(object, key, cleared ? new RepeatedNull(earlier) : value)
      } else {
        this.#opaque()
      }
      this.#space()
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x7d) return this.#leave(object)
      if (code !== 0x2c) this.#fail('after object key:value pair')
      this.#at++
      this.#space()
    }
  }

  #array(schema: JSONSchemaProps | undefined, previous: unknown): unknown[] {
    this.#enter()
    const items = schema?.items
    // Go decodes into the memory of the earlier list, so that its items keep the fields that the new ones lack.
    const earlier: readonly unknown[] = this.#keepRepeated && Array.isArray(previous) ? previous : []
    const array: unknown[] = []
    this.#at++
    this.#space()
    if (this.#text.charCodeAt(this.#at) === 0x5d) return this.#leave(array)
    for (;;) {
      if (this.#strict) this.#path.push(array.length)
      array.push(this.#value(items, earlier[array.length]))
      if (this.#strict) this.#path.pop()
      this.#space()
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x5d) return this.#leave(array)
      if (code !== 0x2c) this.#fail('after array element')
      this.#at++
      this.#space()
    }
  }

  // Unknown and untyped values: Go does not look for duplicate fields inside them.
  #opaque(): unknown {
    const strict = this.#strict
    this.#strict = false
    const value = this.#value(undefined, undefined)
    this.#strict = strict
    return value
  }

  #string(): string {
    const text = this.#text
    const start = ++this.#at
    for (let at = start; ; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) {
        this.#at = at + 1
        return text.slice(start, at)
      }
      if (code === backslash) {
        this.#at = at
        return this.#escapedString(start)
      }
      if (code < 0x20 || at >= text.length) {
        this.#at = at
        this.#fail('in string literal')
      }
    }
  }

  // Continues a string at its first backslash.
  #escapedString(start: number): string {
    const text = this.#text
    let out = text.slice(start, this.#at)
    let from = this.#at
    for (let at = from; ; ) {
      const code = text.charCodeAt(at)
      if (code === quote) {
        this.#at = at + 1
        return out + text.slice(from, at)
      }
      if (code === backslash) {
        out += text.slice(from, at)
        const letter = text.charCodeAt(at + 1)
        if (letter === 0x75) {
          const unit = this.#hex(at + 2)
          at += 6
          const low = isHighSurrogate(unit) ? this.#peekEscape(at) : -1
          if (isLowSurrogate(low)) {
            out += String.fromCharCode(unit, low)
            at += 6
          } else {
            // An unpaired surrogate becomes U+FFFD, as in Go.
            out += isHighSurrogate(unit) || isLowSurrogate(unit) ? '\ufffd' : String.fromCharCode(unit)
          }
        } else {
          const plain = simpleEscapes.get(letter)
          if (plain === undefined) {
            this.#at = at + 1
            this.#fail('in string escape code')
          }
          out += plain
          at += 2
        }
        from = at
      } else if (code < 0x20 || at >= text.length) {
        this.#at = at
        this.#fail('in string literal')
      } else {
        at++
      }
    }
  }

  #peekEscape(at: number): number {
    const text = this.#text
    if (text.charCodeAt(at) !== backslash || text.charCodeAt(at + 1) !== 0x75) return -1
    const digits = text.slice(at + 2, at + 6)
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1
  }

  #hex(at: number): number {
    let unit = 0
    for (let i = at; i < at + 4; i++) {
      const digit = hexDigit(this.#text.charCodeAt(i))
      if (digit < 0) {
        this.#at = i
        this.#fail('in \\u hexadecimal character escape')
      }
      unit = unit * 16 + digit
    }
    return unit
  }

  #number(): number | bigint | JsonFloat {
    const text = this.#text
    const start = this.#at
    let at = start
    let integral = true
    if (text.charCodeAt(at) === 0x2d) at++
    const first = text.charCodeAt(at)
    if (first === 0x30) at++
    else if (isDigit(first)) while (isDigit(text.charCodeAt(at))) at++
    else this.#failAt(at, 'in numeric literal')
    if (text.charCodeAt(at) === 0x2e) {
      integral = false
      at++
      if (!isDigit(text.charCodeAt(at))) this.#failAt(at, 'after decimal point in numeric literal')
      while (isDigit(text.charCodeAt(at))) at++
    }
    const exponent = text.charCodeAt(at)
    if (exponent === 0x65 || exponent === 0x45) {
      integral = false
      at++
      const sign = text.charCodeAt(at)
      if (sign === 0x2b || sign === 0x2d) at++
      if (!isDigit(text.charCodeAt(at))) this.#failAt(at, 'in exponent of numeric literal')
      while (isDigit(text.charCodeAt(at))) at++
    }
    this.#at = at
    const literal = text.slice(start, at)
    const value = toNumber(literal, integral)
    const isExact = integral && (typeof value === 'bigint' || Number.isSafeInteger(value))
    return isExact || !this.#keepFloats ? value : new JsonFloat(literal)
  }

  #literal<T>(word: string, value: T): T {
    const text = this.#text
    for (let i = 1; i < word.length; i++) {
      if (text.charCodeAt(this.#at + i) !== word.charCodeAt(i)) {
        this.#failAt(this.#at + i, `in literal ${word} (expecting '${word[i]}')`)
      }
    }
    this.#at += word.length
    return value
  }

  #space(): void {
    const text = this.#text
    for (;;) {
      const code = text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #enter(): void {
    if (++this.#depth > maxJsonDepth) this.#fail('exceeded max depth')
  }

  #leave<T>(value: T): T {
    this.#depth--
    this.#at++
    return value
  }

  #report(problem: string, key: string): void {
    if (this.#errors.size >= maxStrictErrors) return
    let path = ''
    for (const step of this.#path) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
    this.#errors.add(`${problem} ${goQuote(path === '' ? key : `${path}.${key}`)}`)
  }

  #lastOpening(): number {
    return Math.max(this.#text.lastIndexOf('[', this.#at), this.#text.lastIndexOf('{', this.#at))
  }

  #failAt(at: number, context: string): never {
    this.#at = at
    return this.#fail(context)
  }

  #fail(context: string): never {
    throw new JsonSyntaxError(this.#text, this.#at, context, this.#bytes)
  }
}

// A struct has a fixed set of fields, and a typed map has values of one type. Other objects are untyped.
interface Shape {
  readonly fields?: Readonly<Record<string, JSONSchemaProps>> | undefined
  readonly values?: JSONSchemaProps | undefined
}

function shapeOf(schema: JSONSchemaProps): Shape | undefined {
  if (schema['x-kubernetes-preserve-unknown-fields']) return undefined
  if (schema.properties !== undefined) return { fields: schema.properties }
  const values = schema.additionalProperties
  return typeof values === 'object' ? { values } : undefined
}

const simpleEscapes: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x62, '\b'],
  [0x66, '\f'],
  [0x6e, '\n'],
  [0x72, '\r'],
  [0x74, '\t'],
])

function toNumber(literal: string, integral: boolean): number | bigint {
  const value = Number(literal)
  if (integral) {
    // Integers of up to fifteen digits are always exact; nearly all are that short.
    if (literal.length <= 15 || Number.isSafeInteger(value)) return value === 0 ? 0 : value
    // An int64 has at most nineteen digits and a sign; converting a longer literal to a bigint takes quadratic time.
    if (literal.length <= 20) {
      const exact = BigInt(literal)
      return BigInt.asIntN(64, exact) === exact ? exact : value
    }
  }
  if (!Number.isFinite(value)) {
    throw new JsonRangeError(literal)
  }
  return value
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
